"""The head's planned start, and what may slip in before it without delaying it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pool.scheduling.board import LATE_S, Board, Times, ends_s
from pool.scheduling.calendar import forecast_s
from pool.scheduling.model import (
    Placed,
    PlannedStart,
    PriorityClass,
    Rules,
    Topology,
    Waiting,
)
from pool.scheduling.offer import offer
from pool.scheduling.stock import NEVER
from pool.scheduling.take import release, take


@dataclass(frozen=True, slots=True)
class Head:
    """Who is next but has no room yet: when and where it starts if all ends as forecast.

    `left` is what each of its nodes then still has: CPU, memory, disk.
    """

    work: Waiting
    start: PlannedStart
    left: tuple[tuple[int, tuple[int, int, int]], ...]


def plan_head(board: Board, work: Waiting) -> Head | None:
    """The earliest time at which the work fits, as running work ends; None when it never does."""
    return _quick_head(board, work) or _searched_head(board, work)


def _quick_head(board: Board, work: Waiting) -> Head | None:
    """Whole cards on one node: the node whose n-th card is free first, if nothing else binds."""
    need = work.need
    if not need.whole or need.topology is not Topology.NODE:
        return None
    times = _card_times(board)
    nodes = board.cards.node
    order = np.lexsort((times, nodes))
    first = np.searchsorted(nodes[order], np.arange(len(board.nodes.states)))
    nth = first + need.parts - 1
    exists = nth < len(order)
    exists[exists] &= nodes[order[nth[exists]]] == np.flatnonzero(exists)
    ready = np.full(len(first), np.inf)
    ready[exists] = times[order[nth[exists]]]
    at_s = float(ready.min(initial=np.inf))
    if not np.isfinite(at_s):
        return None
    rows = np.flatnonzero((ready == at_s)[nodes] & (board.cards.held > 0)).tolist()
    pieces = (piece for row in rows for piece in board.cards.pieces[row])
    holders = {piece.held_by for piece in pieces if piece.held_by is not None}
    trial = board.copy()
    for number in sorted(holders):
        running = board.running(number)
        if running is not None and ends_s(board.snapshot, running) <= at_s:
            release(trial, running)
    placed = offer(trial, work)
    return None if placed is None else head_at(trial, work, placed, at_s)


def _card_times(board: Board) -> Times:
    """When each card is forecast to be free as a whole; never while something else holds it."""
    cards = board.cards
    free = cards.whole != NEVER
    held = (cards.held > 0) & cards.offered
    now = board.snapshot.now_s
    ends = np.where(cards.ends < now, now + LATE_S, cards.ends)
    times: Times = np.where(free, now, np.where(held, ends, np.inf))
    times[~cards.offered] = np.inf
    return times


def _searched_head(board: Board, work: Waiting) -> Head | None:
    """The general answer: the fewest ends after which the work fits, found by halving."""
    ends = ((ends_s(board.snapshot, r), r.id, r) for r in board.snapshot.running)
    running = sorted(ends, key=lambda entry: entry[:2])
    low, high, done = 1, len(running), 0
    base = board
    found: tuple[int, Board, Placed] | None = None
    while low <= high:
        middle = (low + high) // 2
        trial = base.copy()
        for _, _, ended in running[done:middle]:
            release(trial, ended)
        placed = offer(trial, work)
        if placed is not None:
            found, high = (middle, trial, placed), middle - 1
        else:
            base, done, low = trial, middle, middle + 1
    if found is None:
        return None
    count, trial, placed = found
    return head_at(trial, work, placed, running[count - 1][0])


def head_at(trial: Board, work: Waiting, placed: Placed, at_s: float) -> Head:
    """The head with this place and time; `trial` is the board at that time, and is used up."""
    take(trial, work, placed)
    nodes = trial.nodes
    left = []
    for host in placed.hosts:
        row = nodes.index[host.node]
        left.append((row, (int(nodes.cpu[row]), int(nodes.memory[row]), int(nodes.disk[row]))))
    start = PlannedStart(
        workload=work.id,
        at_s=at_s,
        cards=frozenset(part.card for part in placed.parts),
        nodes=frozenset(host.node for host in placed.hosts),
    )
    return Head(work, start, tuple(left))


def guarded(board: Board, heads: Iterable[Head]) -> Board:
    """The board without what the heads need: long work may start only on this one."""
    guard = board.copy()
    nodes = guard.nodes
    for head in heads:
        guard.cards.offered[[board.cards.index[card] for card in head.start.cards]] = False
        for row, (cpu, memory, disk) in head.left:
            nodes.cpu[row] = min(int(nodes.cpu[row]), cpu)
            nodes.memory[row] = min(int(nodes.memory[row]), memory)
            nodes.disk[row] = min(int(nodes.disk[row]), disk)
            nodes.stamp[row] = guard.words.tick()
    return guard


def ends_before(board: Board, work: Waiting, heads: Sequence[Head]) -> bool:
    """Whether the work is forecast to end before every head's planned start."""
    until = board.snapshot.now_s + forecast_s(work, board.snapshot.rules)
    return all(until <= head.start.at_s for head in heads)


def slip_order(work: Waiting, now_s: float, rules: Rules) -> tuple[float, float, int]:
    """Shortest forecast first, shortened by age so that nobody starves; or plainly by arrival."""
    if not rules.shortest_first:
        return (work.submitted_s, 0.0, work.id)
    age = max(0.0, now_s - work.submitted_s) / rules.slip_age_s
    return (forecast_s(work, rules) / (1.0 + age), work.submitted_s, work.id)


def needs_head(work: Waiting) -> bool:
    """Scavengers take what is left and hold nothing back for themselves."""
    return work.priority_class is not PriorityClass.SCAVENGER
