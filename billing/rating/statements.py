"""Pure: the lines of a bill from sums of postings; only lines are rounded, with one line for it."""

import csv
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from billing.rating.accounts import Account
from billing.rating.money import settle
from pool.sheets import plain_cell

CENT = 10_000
"""A hundredth of the currency in 10⁻⁶ of it."""

ROUNDING = "rounding"
COLUMNS = (
    *("month", "line_id", "number", "organization", "project", "cost_centre", "account"),
    *("card_model", "mode", "price_class", "late", "card_hours", "amount", "amount_micro"),
    "currency",
)
"""The file that other systems read; columns are only ever added at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What a bill has of one thing: amounts in 10⁻⁶ of the currency, card time in microseconds."""

    project: int | None
    project_slug: str
    cost_centre: str
    card_model: str
    mode: str
    price_class: str
    account: str
    late: bool
    card_us: int
    amount_micro: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line; `line_id` is the same for the same thing in every month."""

    number: int
    line_id: str
    what: Sum
    amount_cents: int


@dataclass(frozen=True, slots=True)
class Head:
    """Whose bill of which month."""

    organization: str
    first: date
    currency: str
    zone: str


def lines_of(head: Head, sums: Iterable[Sum]) -> tuple[Line, ...]:
    """The bill's lines in their order, each rounded half to even, and what rounding left over.

    The cents of all lines sum to the rounded total.
    """
    order = {account.value: place for place, account in enumerate(Account)}
    found = sorted(
        (one for one in sums if one.amount_micro or one.card_us),
        key=lambda one: (
            *(one.project_slug, one.cost_centre, one.card_model, one.mode, one.price_class),
            *(order.get(one.account, 99), one.late),
        ),
    )
    told = [
        Line(number, line_id(head, one), one, settle(one.amount_micro, CENT))
        for number, one in enumerate(found, start=1)
    ]
    total = settle(sum(one.amount_micro for one in found), CENT)
    rest = total - sum(one.amount_cents for one in told)
    if rest:
        nothing = Sum(
            project=None,
            project_slug="",
            cost_centre="",
            card_model="",
            mode="",
            price_class="",
            account=ROUNDING,
            late=False,
            card_us=0,
            amount_micro=0,
        )
        told.append(Line(len(told) + 1, line_id(head, nothing), nothing, rest))
    return tuple(told)


def line_id(head: Head, one: Sum) -> str:
    """A name that stays: it is made of what the line is about, not of its place or amount."""
    words = (
        *(head.organization, one.project_slug, one.cost_centre, one.card_model, one.mode),
        *(one.price_class, one.account, "late" if one.late else ""),
    )
    return "ln-" + hashlib.sha256("\x1f".join(words).encode()).hexdigest()[:16]


def statement_file(head: Head, lines: Sequence[Line]) -> bytes:
    """The bill as other systems read it: the same lines give the same bytes."""
    out = _Text()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(COLUMNS)
    for line in lines:
        one = line.what
        write.writerow(
            [
                *(f"{head.first:%Y-%m}", line.line_id, line.number, head.organization),
                *(
                    one.project_slug,
                    plain_cell(one.cost_centre),
                    one.account,
                    one.card_model,
                    one.mode,
                ),
                *(one.price_class, int(one.late), hours(one.card_us), cents(line.amount_cents)),
                *(one.amount_micro, head.currency),
            ]
        )
    return "".join(out.parts).encode()


class _Text:
    """What a file of text would take, kept."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        self.parts.append(text)
        return len(text)


def hours(card_us: int) -> str:
    """Card time in card-hours with four digits."""
    return str(Decimal(settle(card_us, 360_000)).scaleb(-4))


def cents(amount: int) -> str:
    """Hundredths as an amount."""
    return str(Decimal(amount).scaleb(-2))
