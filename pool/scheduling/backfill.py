"""The head's planned start, and what may slip in before it without delaying it."""

from dataclasses import dataclass

import numpy as np

from pool.scheduling.board import Board
from pool.scheduling.calendar import forecast_s
from pool.scheduling.model import Placed, PlannedStart, PriorityClass, Rules, Running, Waiting
from pool.scheduling.offer import offer
from pool.scheduling.take import release, take


@dataclass(frozen=True, slots=True)
class Head:
    """Who is next but has no room yet: when and where it starts if all ends as forecast."""

    work: Waiting
    start: PlannedStart
    after: Board
    """The board at that time, with the head on it."""


def plan_head(board: Board, work: Waiting) -> Head | None:
    """The earliest time at which the work fits, as running work ends; None when it never does.

    Work whose end is past or unknown is taken to end after the rule's unknown duration.
    """
    running = sorted(board.snapshot.running, key=lambda r: (_ends_s(board, r), r.id))
    low, high = 1, len(running)
    base, done = board.copy(), 0
    found: tuple[int, Board, Placed] | None = None
    while low <= high:
        middle = (low + high) // 2
        trial = base.copy()
        for ended in running[done:middle]:
            release(trial, ended)
        placed = offer(trial, work)
        if placed is not None:
            found, high = (middle, trial, placed), middle - 1
        else:
            base, done, low = trial, middle, middle + 1
    if found is None:
        return None
    count, after, placed = found
    take(after, work, placed)
    at_s = _ends_s(board, running[count - 1])
    return Head(work, _start(work, placed, at_s), after)


def _start(work: Waiting, placed: Placed, at_s: float) -> PlannedStart:
    return PlannedStart(
        workload=work.id,
        at_s=at_s,
        cards=frozenset(part.card for part in placed.parts),
        nodes=frozenset(host.node for host in placed.hosts),
    )


def _ends_s(board: Board, running: Running) -> float:
    now, rules = board.snapshot.now_s, board.snapshot.rules
    if running.ends_s is None:
        return max(now, running.started_s + rules.unknown_duration_s)
    return max(now, running.ends_s)


def guarded(board: Board, heads: list[Head]) -> Board:
    """The board without what the heads need: long work may start only on this one."""
    guard = board.copy()
    for head in heads:
        rows = [board.cards.index[card] for card in head.start.cards]
        guard.cards.offered[rows] = False
        nodes = [board.nodes.index[node] for node in head.start.nodes]
        for mine, after in (
            (guard.nodes.cpu, head.after.nodes.cpu),
            (guard.nodes.memory, head.after.nodes.memory),
            (guard.nodes.disk, head.after.nodes.disk),
        ):
            mine[nodes] = np.minimum(mine[nodes], after[nodes])
    return guard


def ends_before(board: Board, work: Waiting, heads: list[Head]) -> bool:
    """Whether the work is forecast to end before every head's planned start."""
    until = board.snapshot.now_s + forecast_s(work, board.snapshot.rules)
    return all(until <= head.start.at_s for head in heads)


def slip_order(work: Waiting, now_s: float, rules: Rules) -> tuple[float, float, int]:
    """Shortest forecast first, shortened by age so that nobody starves."""
    age = max(0.0, now_s - work.submitted_s) / rules.age_full_s
    return (forecast_s(work, rules) / (1.0 + age), work.submitted_s, work.id)


def needs_head(work: Waiting) -> bool:
    """Scavengers take what is left and hold nothing back for themselves."""
    return work.priority_class is not PriorityClass.SCAVENGER
