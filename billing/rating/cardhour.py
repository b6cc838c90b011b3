"""Pure: the price of a card and hour, shared among all that was done with it, to the last unit."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from billing.rating.accounts import Account
from billing.rating.intervals import HOUR_US, Span
from billing.rating.kept import CARD_MICRO
from billing.rating.money import apportion, settle, spread
from billing.rating.tariffs import Tariff

SMALLEST_MEMORY_MILLI, SMALLEST_COMPUTE_MILLI = 125, 125
"""The smallest share that is sold, in thousandths of the card: an eighth, as of the finest cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What one usage row says of the card: a share of it for a span inside the hour.

    `used_us` and `known_us` are how long it was seen working, and how long it was seen at all.
    """

    key: int
    span: Span
    micro: int
    memory_milli: int
    compute_milli: int
    used_us: int = 0
    known_us: int = 0
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One share of the price: `key` is the row's, 0 the platform's; `card_us` is card time."""

    account: Account
    key: int
    micro: int
    card_us: int


_Share = tuple[Account, int, int, int]
"""Account, key, priced weight, timed weight."""


@dataclass(slots=True)
class _Free:
    """What nobody held, by reason: (priced, timed) weights."""

    idle: list[int] = field(default_factory=lambda: [0, 0])
    down: list[int] = field(default_factory=lambda: [0, 0])
    stranded: dict[int, list[int]] = field(default_factory=dict)


def price_of(line: Sequence[Tariff], span: Span) -> int:
    """The whole card's price over a span at its list rates, in 10⁻⁶ of the currency."""
    return settle(_priced(line, span), HOUR_US)


def card_hour(
    *,
    span: Span,
    line: Sequence[Tariff],
    held: Sequence[Holding],
    down: Sequence[Span] = (),
    kept: Sequence[tuple[int, int]] = (),
) -> tuple[Part, ...]:
    """The parts of the card's price over `span` (an hour, or as much of it as the card was there).

    They sum to `price_of(line, span)` exactly, and their card time to the span, whatever is held.
    `kept` are rows of cards kept for a reserved lease with the micro-card-microseconds that its own
    work left idle: of that, only what nobody else held is a part of this card's price. Free time is
    stranded where the rest of the card is too small for any share in one dimension alone; those who
    hold the card then strand it.
    """
    order = sorted(held, key=lambda one: (one.span.start_us, one.key))
    free = _swept(span, line, order, down)
    told: list[_Share] = []
    for one in order:
        told += _of_holding(one, line)
    for key in sorted(free.stranded):
        told.append((Account.STRANDED, key, free.stranded[key][0], free.stranded[key][1]))
    for key, idle_us in kept:
        priced, timed = _taken(free.idle, idle_us)
        told.append((Account.HELD_IDLE, key, priced, timed))
    told.append((Account.PLATFORM_IDLE, 0, free.idle[0], free.idle[1]))
    told.append((Account.DOWN, 0, free.down[0], free.down[1]))
    amounts = spread(price_of(line, span), [priced for *_, priced, _timed in told])
    times = spread(span.length_us, [timed for *_, timed in told])
    return tuple(
        Part(account, key, micro, us)
        for (account, key, _p, _t), micro, us in zip(told, amounts, times, strict=True)
        if micro or us
    )


def _of_holding(one: Holding, line: Sequence[Tariff]) -> list[_Share]:
    priced, timed = one.micro * _priced(line, one.span), one.micro * one.span.length_us
    if one.elsewhere:
        return [(Account.ELSEWHERE, one.key, priced, timed)]
    length = one.span.length_us
    known = min(one.known_us, length)
    used = min(one.used_us, known)
    weights = (used, known - used, length - known)
    accounts = (Account.USED, Account.HELD_IDLE, Account.HELD_UNKNOWN)
    return [
        (account, one.key, money, time)
        for account, money, time in zip(
            accounts, spread(priced, weights), spread(timed, weights), strict=True
        )
    ]


def _swept(
    span: Span, line: Sequence[Tariff], held: Sequence[Holding], down: Sequence[Span]
) -> _Free:
    """Walk along the span from one change to the next, and tell what is free and why."""
    starts: dict[int, list[Holding]] = {}
    ends: dict[int, list[Holding]] = {}
    edges = {span.start_us, span.end_us}
    for one in held:
        cut = span.cut(one.span)
        if cut.length_us:
            starts.setdefault(cut.start_us, []).append(one)
            ends.setdefault(cut.end_us, []).append(one)
            edges |= {cut.start_us, cut.end_us}
    for gone in down:
        cut = span.cut(gone)
        edges |= {cut.start_us, cut.end_us}
    free = _Free()
    active: dict[int, Holding] = {}
    steps = sorted(edges)
    for start, end in zip(steps, steps[1:], strict=False):
        for one in ends.get(start, ()):
            active.pop(one.key, None)
        for one in starts.get(start, ()):
            active[one.key] = one
        fallen = any(gone.start_us <= start < gone.end_us for gone in down)
        _told(free, Span(start, end), line, tuple(active.values()), fallen=fallen)
    return free


def _told(
    free: _Free, step: Span, line: Sequence[Tariff], active: tuple[Holding, ...], *, fallen: bool
) -> None:
    rest = CARD_MICRO - sum(one.micro for one in active)
    if rest <= 0:
        return
    priced, timed = rest * _priced(line, step), rest * step.length_us
    if fallen:
        _add(free.down, priced, timed)
    elif active and _strands(active):
        weights = [one.micro for one in active]
        for one, money, time in zip(
            active, apportion(priced, weights), apportion(timed, weights), strict=True
        ):
            _add(free.stranded.setdefault(one.key, [0, 0]), money, time)
    else:
        _add(free.idle, priced, timed)


def _strands(active: Sequence[Holding]) -> bool:
    """Is one dimension used up while the other is not?"""
    memory = 1000 - sum(one.memory_milli for one in active) >= SMALLEST_MEMORY_MILLI
    compute = 1000 - sum(one.compute_milli for one in active) >= SMALLEST_COMPUTE_MILLI
    return memory != compute


def _add(kept: list[int], priced: int, timed: int) -> None:
    kept[0] += priced
    kept[1] += timed


def _taken(idle: list[int], timed: int) -> tuple[int, int]:
    """So much of the idle time is somebody's after all."""
    timed = min(timed, idle[1])
    priced = idle[0] * timed // idle[1] if idle[1] else 0
    _add(idle, -priced, -timed)
    return priced, timed


def _priced(line: Sequence[Tariff], span: Span) -> int:
    """Rate times microseconds."""
    return sum(one.micro * span.cut(Span(one.start_us, one.end_us)).length_us for one in line)
