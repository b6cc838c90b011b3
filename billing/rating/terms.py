"""Pure: what is taken off or put on an amount, in a fixed order, each step on what is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from billing.rating.accounts import Account
from billing.rating.money import settle

MILLI = 1000


class Basis(StrEnum):
    """What is charged: what was reserved, or used, or used but at least a part of the reserved."""

    RESERVED = "reserved"
    USED = "used"
    MAX = "max"


class Cut(StrEnum):
    """Kinds of discount, in the order in which they are taken."""

    AGREEMENT = "agreement"
    PREEMPTIBLE = "preemptible"
    OFF_PEAK = "off_peak"


CUTS = (Cut.AGREEMENT, Cut.PREEMPTIBLE, Cut.OFF_PEAK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was metered: its list price, the price in force for it, and how long it was used.

    `apart_micro` is charged beside it, for licence seats and what it strands: no discount touches
    that, but tax does.
    """

    list_micro: int
    amount_micro: int
    reserved_us: int
    used_us: int = 0
    known_us: int = 0
    billable: bool = True
    apart_micro: int = 0


@dataclass(frozen=True, slots=True)
class Terms:
    """The contract's words about the charge; `floor_milli` is the part of `max`; tax 0 is none."""

    basis: Basis = Basis.RESERVED
    floor_milli: int = 0
    tax_milli: int = 0


def adjustments(
    row: Row, terms: Terms, cuts: Sequence[tuple[Cut, int]]
) -> tuple[tuple[Account, int], ...]:
    """From the list price to what is charged: one step each, in 10⁻⁶ of the currency.

    price → class (`price`) → basis → agreement → preemptible → off-peak → tax. `cuts` are
    thousandths taken off what is left at that point. What is not billable is credited whole. The
    list price and all steps sum to the charge.
    """
    if not row.billable:
        return _kept([(Account.CREDIT, -row.list_micro)])
    steps = [(Account.PRICE, row.amount_micro - row.list_micro)]
    left = row.amount_micro
    charged = settle(left * _charged_us(row, terms), row.reserved_us) if row.reserved_us else left
    steps.append((Account.BASIS, charged - left))
    left = charged
    for kind, milli in sorted(cuts, key=lambda one: CUTS.index(one[0])):
        off = settle(left * milli, MILLI)
        steps.append((Account(kind.value), -off))
        left -= off
    steps.append((Account.TAX, tax_on(left + row.apart_micro, terms)))
    return _kept(steps)


def tax_on(micro: int, terms: Terms) -> int:
    """The tax on an amount, in 10⁻⁶ of the currency."""
    return settle(micro * terms.tax_milli, MILLI)


def _charged_us(row: Row, terms: Terms) -> int:
    """Time that was not seen counts as used: nobody is paid for a gap in the readings."""
    if terms.basis is Basis.RESERVED:
        return row.reserved_us
    known = min(row.known_us, row.reserved_us)
    used = min(row.used_us, known) + row.reserved_us - known
    if terms.basis is Basis.USED:
        return used
    return max(used, settle(row.reserved_us * terms.floor_milli, MILLI))


def _kept(steps: list[tuple[Account, int]]) -> tuple[tuple[Account, int], ...]:
    return tuple((account, micro) for account, micro in steps if micro)
