"""What the heads of the queue wait for: on each of their cards, what frees when, and the gaps."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from pool.cycle.waiting import Look
from pool.scheduling.calendar import forecast_s
from pool.scheduling.model import CardState, PlannedStart, Running, Snapshot, Waiting
from pool.scheduling.outlook.forecast import BarKind as Cause
from pool.scheduling.outlook.forecast import forecast

MOST_CARDS = 16
"""So many cards of one head are drawn."""

UNKNOWN_S = 3600.0
"""How far a bar is drawn whose end nobody knows."""


class BarKind(StrEnum):
    """What takes the card for that time; a gap is where short work may slip in."""

    RUNNING = "running"
    GAP = "gap"
    HEAD = "head"
    RESERVED = "reserved"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True)
class Bar:
    """A card's time from … until, in seconds since the epoch; `workload` None is nobody's.

    `known` is false where the end is a guess: nobody declared it, or it is over already.
    """

    kind: BarKind
    from_s: float
    until_s: float
    workload: int | None = None
    known: bool = True


@dataclass(frozen=True, slots=True)
class Lane:
    """One card with what takes it, earliest first."""

    card: CardState
    node: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Outlook:
    """One head of the queue: when it is planned to start at the latest, and on which cards.

    `frees` is the running work that ends last before it: the one it waits for. `more` cards are
    not drawn.
    """

    workload: int
    now_s: float
    at_s: float
    until_s: float
    lanes: tuple[Lane, ...]
    frees: int | None
    more: int


def outlooks(look: Look, *, most: int = 3) -> tuple[Outlook, ...]:
    """The first heads of the queue in order, with the time of each of their cards."""
    snapshot = look.snapshot
    waiting = {work.id: work for work in snapshot.waiting}
    heads = [start for start in look.made.starts if start.workload in waiting and start.cards]
    heads.sort(key=lambda start: _position(look, start.workload))
    holders, kept = _holders(snapshot), _kept(look)
    return tuple(
        _outlook(snapshot, start, waiting[start.workload], holders, kept) for start in heads[:most]
    )


def _position(look: Look, workload: int) -> tuple[int, int]:
    told = look.made.waits.get(workload)
    return (told.position if told else 0, workload)


Holders = dict[int, list[Running]]
Kept = Mapping[int, list[Bar]]
KEPT = {Cause.RESERVED: BarKind.RESERVED, Cause.MAINTENANCE: BarKind.MAINTENANCE}


def _kept(look: Look) -> Kept:
    """Each card's reservations and maintenance from now on."""
    found: dict[int, list[Bar]] = defaultdict(list)
    now_s = look.snapshot.now_s
    for bar in forecast(look.snapshot, look.made).bars:
        if bar.kind in KEPT and bar.until_s > now_s:
            found[bar.card].append(Bar(KEPT[bar.kind], max(bar.from_s, now_s), bar.until_s))
    return found


def _holders(snapshot: Snapshot) -> Holders:
    """Who runs on each card."""
    running = {run.id: run for run in snapshot.running}
    found: Holders = defaultdict(list)
    for one in snapshot.slices:
        if one.held_by in running:
            holder = running[one.held_by]
            if holder not in found[one.card]:
                found[one.card].append(holder)
    return found


def _outlook(
    snapshot: Snapshot, start: PlannedStart, work: Waiting, holders: Holders, kept: Kept
) -> Outlook:
    nodes = {node.id: node.name for node in snapshot.nodes}
    cards = [card for card in snapshot.cards if card.id in start.cards]
    cards.sort(key=lambda card: (nodes[card.node], card.index))
    at_s = max(start.at_s, snapshot.now_s)
    until_s = at_s + forecast_s(work, snapshot.rules)
    lanes = []
    for card in cards[:MOST_CARDS]:
        runs, barred = holders[card.id], kept.get(card.id, [])
        bars = _bars(snapshot, runs, barred, at_s, until_s, work.id)
        ordered = sorted(bars, key=lambda bar: bar.from_s)
        lanes.append(Lane(card, nodes[card.node], tuple(ordered)))
    before = [run for card in cards for run in holders[card.id] if _ends(snapshot, run) <= at_s + 1]
    last = max(before, key=lambda run: (_ends(snapshot, run), run.id), default=None)
    return Outlook(
        workload=work.id,
        now_s=snapshot.now_s,
        at_s=at_s,
        until_s=until_s,
        lanes=tuple(lanes),
        frees=None if last is None else last.id,
        more=max(0, len(cards) - MOST_CARDS),
    )


def _ends(snapshot: Snapshot, run: Running) -> float:
    """When it is expected to end; what is overdue ends now at the earliest."""
    if run.ends_s is None:
        return snapshot.now_s + UNKNOWN_S
    return max(run.ends_s, snapshot.now_s)


def _bars(
    snapshot: Snapshot,
    runs: Iterable[Running],
    kept: list[Bar],
    at_s: float,
    until_s: float,
    head: int,
) -> Iterable[Bar]:
    """What runs there and what keeps it, with the gaps until the head starts, then the head.

    A gap ends where a reservation or maintenance begins. Of these only what begins before the
    head is over is drawn, and what has begun already only behind the work that still runs there.
    """
    now_s = free_s = busy_s = snapshot.now_s
    for run in sorted(runs, key=lambda one: (_ends(snapshot, one), one.id)):
        ends_s = _ends(snapshot, run)
        sure = run.ends_s is not None and run.ends_s > now_s
        yield Bar(BarKind.RUNNING, now_s, ends_s, run.id, sure)
        busy_s = max(busy_s, ends_s)
        free_s = max(free_s, min(ends_s, at_s))
    for bar in _behind(kept, now_s, busy_s, until_s):
        if free_s < min(bar.from_s, at_s):
            yield Bar(BarKind.GAP, free_s, min(bar.from_s, at_s))
        yield bar
        free_s = max(free_s, bar.until_s)
    if free_s < at_s:
        yield Bar(BarKind.GAP, free_s, at_s)
    yield Bar(BarKind.HEAD, at_s, until_s, head)


def _behind(kept: Iterable[Bar], now_s: float, busy_s: float, until_s: float) -> Iterator[Bar]:
    """What keeps the card within the picture; what has begun, from the end of what runs on."""
    for bar in kept:
        from_s = busy_s if bar.from_s <= now_s else bar.from_s
        if from_s < min(bar.until_s, until_s):
            yield replace(bar, from_s=from_s)
