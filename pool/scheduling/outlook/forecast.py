"""What frees when, where the heads start, and where other work fits before them: for a chart."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from pool.scheduling.board import ends_s
from pool.scheduling.calendar import forecast_s
from pool.scheduling.model import CardState, Plan, Running, Snapshot


class BarKind(StrEnum):
    """What a card is busy with, or kept for."""

    RUNNING = "running"
    LEAVING = "leaving"
    STARTING = "starting"
    SLIPPED_IN = "slipped_in"
    HEAD = "head"
    RESERVED = "reserved"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One card from one time to another. `workload` is None for what is no workload."""

    card: int
    workload: int | None
    from_s: float
    until_s: float
    kind: BarKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    """At this time so many cards of the partition come free as a whole, if all ends as forecast."""

    partition: int
    at_s: float
    cards: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """The time to come, card by card, and the cards that come free by time; soonest first."""

    bars: tuple[Bar, ...]
    frees: tuple[Free, ...]


def forecast(snapshot: Snapshot, made: Plan) -> Forecast:
    """The bars and the frees of this plan; bars by card and time, never ending before they begin.

    A head is drawn on the cards it is to start on, from its planned start for as long as it is
    forecast to run. Work of any number of small shares has one bar on each card.
    """
    cards = {card.id: card for card in snapshot.cards}
    bars = [
        *_running(snapshot),
        *_starting(snapshot, made),
        *_heads(snapshot, made),
        *_kept(snapshot, cards),
    ]
    known = [bar for bar in bars if bar.card in cards and bar.until_s > bar.from_s]
    known.sort(key=lambda b: (b.card, b.from_s, b.until_s, b.workload or 0))
    return Forecast(tuple(known), _frees(known, cards))


def _running(snapshot: Snapshot) -> Iterator[Bar]:
    card_of = {piece.id: piece.card for piece in snapshot.slices}
    for run in snapshot.running:
        for card in sorted({card_of[piece] for piece in run.slices if piece in card_of}):
            yield Bar(
                card=card,
                workload=run.id,
                from_s=min(run.started_s, snapshot.now_s),
                until_s=ends_s(snapshot, run),
                kind=_kind(run),
            )


def _kind(run: Running) -> BarKind:
    return BarKind.LEAVING if run.leaving else BarKind.RUNNING


def _starting(snapshot: Snapshot, made: Plan) -> Iterator[Bar]:
    works = {work.id: work for work in snapshot.waiting}
    for placed in made.placed:
        until = snapshot.now_s + forecast_s(works[placed.workload], snapshot.rules)
        for card in sorted({part.card for part in placed.parts}):
            yield Bar(
                card=card,
                workload=placed.workload,
                from_s=snapshot.now_s,
                until_s=until,
                kind=BarKind.SLIPPED_IN if placed.backfilled else BarKind.STARTING,
            )


def _heads(snapshot: Snapshot, made: Plan) -> Iterator[Bar]:
    works = {work.id: work for work in snapshot.waiting}
    for start in made.starts:
        until = start.at_s + forecast_s(works[start.workload], snapshot.rules)
        for card in sorted(start.cards):
            yield Bar(
                card=card,
                workload=start.workload,
                from_s=start.at_s,
                until_s=until,
                kind=BarKind.HEAD,
            )


def _kept(snapshot: Snapshot, cards: dict[int, CardState]) -> Iterator[Bar]:
    """Reservations and maintenance that are still to come or not over."""
    for one in snapshot.reservations:
        for card in sorted(one.cards):
            yield _bar(card, one.starts_s, one.ends_s, BarKind.RESERVED)
    for window in snapshot.windows:
        inside = {card.id for card in cards.values() if card.node in window.nodes}
        for card in sorted(window.cards | inside):
            yield _bar(card, window.starts_s, window.ends_s, BarKind.MAINTENANCE)


def _bar(card: int, from_s: float, until_s: float, kind: BarKind) -> Bar:
    return Bar(card=card, workload=None, from_s=from_s, until_s=until_s, kind=kind)


def _frees(bars: list[Bar], cards: dict[int, CardState]) -> tuple[Free, ...]:
    """When the last holder of each held card is forecast to be gone, counted by partition."""
    busy = {BarKind.RUNNING, BarKind.LEAVING, BarKind.STARTING, BarKind.SLIPPED_IN}
    last: dict[int, float] = {}
    for bar in bars:
        if bar.kind in busy:
            last[bar.card] = max(bar.until_s, last.get(bar.card, bar.until_s))
    counts = Counter((cards[card].partition, at) for card, at in last.items())
    found = [Free(partition=p, at_s=at, cards=count) for (p, at), count in counts.items()]
    return tuple(sorted(found, key=lambda free: (free.at_s, free.partition)))
