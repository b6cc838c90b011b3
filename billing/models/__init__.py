"""Tables of money."""

from billing.models.cursors import Cursor
from billing.models.prices import Price
from billing.models.usage import Usage

__all__ = ["Cursor", "Price", "Usage"]
