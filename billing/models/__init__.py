"""Tables of money."""

from billing.models.budgets import Budget
from billing.models.contracts import Contract, Discount, Overhead
from billing.models.cursors import Cursor
from billing.models.ledger import Entry, Posting
from billing.models.months import Dispute, Month, StatementLine
from billing.models.prices import Price
from billing.models.usage import Usage

__all__ = [
    "Budget",
    "Contract",
    "Cursor",
    "Discount",
    "Dispute",
    "Entry",
    "Month",
    "Overhead",
    "Posting",
    "Price",
    "StatementLine",
    "Usage",
]
