"""What a hold costs: exact accrual since its start, rounded once a step, so that parts sum up."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from billing.rating.intervals import HOUR_US, Span, hours
from billing.rating.money import apportion, settle
from billing.rating.tariffs import Tariff

WHOLE = 1_000_000 * 1024
"""One unit (a card, a core, a GiB) in the parts that quantities are counted in."""

_DENOMINATOR = WHOLE * HOUR_US


@dataclass(frozen=True, slots=True)
class Item:
    """A quantity (in parts of WHOLE) and its rates in time.

    `expected` says that a time without a rate leaves the amount unknown; else it is free.
    """

    unit: str
    quantity: int
    tariffs: tuple[Tariff, ...]
    expected: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """A part of an amount: one unit at one price for so many microseconds."""

    price: str
    unit: str
    rate_micro: int
    us: int
    micro: int


@dataclass(frozen=True, slots=True)
class Charge:
    """An amount with its lines, which sum to it; None when some of the time has no price."""

    micro: int | None
    lines: tuple[Line, ...] = ()


def card_parts(equivalents_micro: int) -> int:
    """Millionths of a card as a quantity."""
    return equivalents_micro * 1024


def core_parts(cpu_milli: int) -> int:
    """Thousandths of a core as a quantity."""
    return cpu_milli * 1000 * 1024


def gib_parts(ram_mib: int) -> int:
    """MiB as a quantity of GiB."""
    return ram_mib * 1_000_000


def seat_parts(seats: int) -> int:
    """Licence seats as a quantity."""
    return seats * WHOLE


def accrued(items: Sequence[Item], span: Span) -> int:
    """What the span has run up, as a numerator over a fixed denominator: nothing is rounded."""
    return sum(
        item.quantity * tariff.micro * span.cut(Span(tariff.start_us, tariff.end_us)).length_us
        for item in items
        for tariff in item.tariffs
    )


def charge(items: Sequence[Item], *, since_us: int, span: Span) -> Charge:
    """The amount of one part of a hold that began at `since_us`.

    It is the rounded accrual at the span's end less that at its start: the amounts of any
    neighbouring parts sum to the amount of the whole, however it is split.
    """
    known = all(not item.quantity or not item.expected or _covered(item, span) for item in items)
    lines: list[Line] = []
    before = accrued(items, Span(since_us, span.start_us))
    for start, end in pairwise(_edges(items, span)):
        after = before + accrued(items, Span(start, end))
        lines += _lines(items, Span(start, end), _settled(after) - _settled(before))
        before = after
    return Charge(sum(line.micro for line in lines) if known else None, tuple(lines))


def hourly(
    items: Sequence[Item], span: Span, *, since_us: int = 0
) -> list[tuple[int, Span, Charge]]:
    """A hold's span as one charge an hour: the hour's start, the part inside, its charge.

    `since_us` leaves out what lies before it; the rest is charged as if nothing were left out.
    """
    asked = span.cut(Span(since_us, span.end_us))
    return [
        (hour, part, charge(items, since_us=span.start_us, span=part))
        for hour, part in hours(asked)
    ]


def rate_at(items: Sequence[Item], moment_us: int) -> int | None:
    """What an hour costs at the rates of one moment; None without a price that is expected."""
    instant = Span(moment_us, moment_us + 1)
    if any(item.quantity and item.expected and not _covered(item, instant) for item in items):
        return None
    return _settled(accrued(items, instant) * HOUR_US)


def _settled(numerator: int) -> int:
    return settle(numerator, _DENOMINATOR)


def _edges(items: Sequence[Item], span: Span) -> list[int]:
    inside = {
        edge
        for item in items
        for tariff in item.tariffs
        for edge in (tariff.start_us, tariff.end_us)
        if span.start_us < edge < span.end_us
    }
    return sorted({span.start_us, *inside, span.end_us})


def _lines(items: Sequence[Item], step: Span, micro: int) -> list[Line]:
    """One line for each item that has a price in a step within which no price changes."""
    priced = [
        (item, tariff)
        for item in items
        if item.quantity
        for tariff in item.tariffs
        if tariff.start_us <= step.start_us and step.end_us <= tariff.end_us
    ]
    shares = apportion(micro, [item.quantity * tariff.micro for item, tariff in priced])
    return [
        Line(tariff.ref, item.unit, tariff.micro, step.length_us, share)
        for (item, tariff), share in zip(priced, shares, strict=True)
    ]


def _covered(item: Item, span: Span) -> bool:
    """Has every moment of the span a rate?"""
    priced = (span.cut(Span(one.start_us, one.end_us)).length_us for one in item.tariffs)
    return sum(priced) == span.length_us
