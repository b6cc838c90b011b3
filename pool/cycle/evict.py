"""Carry out a plan's evictions: each winner's victims are told to leave together, or none is."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog

from pool.errors import IllegalMove, QuotaExceeded, Stale
from pool.events import SYSTEM
from pool.lifecycle.yielding import YieldKind
from pool.scheduling.model import Eviction, Plan, PlannedStart
from pool.services.yielding.orders import Room, leave_together

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Evicted:
    """How many orders were given and how many were stale; `over` are the winners that a limit of
    their own keeps from starting, for whom nobody is interrupted."""

    ordered: int = 0
    stale: int = 0
    over: Mapping[int, QuotaExceeded] = field(default_factory=dict)


def evict(made: Plan, *, share_milli: int) -> Evicted:
    """Order out what the plan wants to leave.

    What the planned start of a winner needs is kept for it: the rooms its victims leave, and what
    is free beside them.
    """
    starts = {start.workload: start for start in made.starts}
    by_winner: dict[int, list[Eviction]] = defaultdict(list)
    for one in made.evictions:
        by_winner[one.winner].append(one)
    ordered = stale = 0
    over: dict[int, QuotaExceeded] = {}
    for winner, evictions in by_winner.items():
        victims = {one.victim: kind_of(one) for one in evictions}
        try:
            given = leave_together(
                winner_id=winner,
                victims=victims,
                room=_room(winner, starts),
                share_milli=share_milli,
                actor=SYSTEM,
            )
        except (Stale, IllegalMove, QuotaExceeded) as refused:
            stale += len(victims)
            if isinstance(refused, QuotaExceeded):
                over[winner] = refused
            log.info("evict.stale", winner=winner, why=refused.detail)
            continue
        ordered += len(given)
    return Evicted(ordered, stale, over)


def kind_of(one: Eviction) -> YieldKind:
    """The plan's reason as the books' kind of order."""
    if one.hand_back:
        return YieldKind.HAND_BACK
    return YieldKind.OVERRUN if one.overrun else YieldKind.PREEMPT


def _room(winner: int, starts: Mapping[int, PlannedStart]) -> Room:
    """Cards where the winner needs any; the node for work without one."""
    start = starts.get(winner)
    if start is None:
        return Room()
    nodes = frozenset() if start.cards else start.nodes
    return Room(cards=start.cards, nodes=nodes, placed=start.placed)
