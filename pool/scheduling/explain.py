"""Why it waits: the same filters as the planner's, counted one after the other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.board import FREE, Board, Flags, Ints
from pool.scheduling.fit import (
    Grants,
    grants_for,
    host_only_sieve,
    modes_offered,
    sieve,
)
from pool.scheduling.model import Explanation, Level, PlannedStart, PriorityClass, Reason, Waiting
from pool.scheduling.offer import may_use, offer
from pool.scheduling.shortage import HOST, cards_first, shortage_of

_RULES = frozenset(
    {
        Reason.HELD_BACK,
        Reason.ACCESS,
        Reason.CEILING,
        Reason.UNPROVEN,
        Reason.LICENCE,
        Reason.QUOTA,
        Reason.MAINTENANCE,
        Reason.RESERVED,
        Reason.NODE_FAILED_IT,
    }
)

ENDING = frozenset({Reason.MAINTENANCE, Reason.RESERVED})
"""Rules that are over at a time that is known: who waits for that holds a planned start."""


@dataclass(frozen=True, slots=True)
class Count:
    """How far the candidates got: how many each filter removed, and where the last ones fell."""

    partition: int
    mode: Mode | None
    candidates: int
    removed: tuple[tuple[Reason, int], ...]
    fell_at: Reason | None
    last: Flags
    grants: Grants | None

    @property
    def depth(self) -> int:
        """How many filters the last candidate passed."""
        return len(self.removed) + (self.fell_at is None) * 100


@dataclass(frozen=True, slots=True)
class Stops:
    """The partitions in which rules alone stop the work, whatever ends or leaves.

    In those that are `limited` it is its own limit, which others who count in it may give back.
    """

    barred: frozenset[int] = frozenset()
    limited: frozenset[int] = frozenset()


def ruled(board: Board, work: Waiting) -> bool:
    """Whether some rule beside the room may stop the work; false spares counting."""
    if board.seats or work.avoid or not board.quotas.keys().isdisjoint(work.tenants):
        return True
    states = (board.parts.get(partition) for partition in work.partitions)
    return any(kind.mixed for kind in board.kinds) or any(s and s.ceilings for s in states)


def counted(board: Board, work: Waiting) -> tuple[Count, ...]:
    """How far the candidates got in each partition that is open to the work, mode by mode."""
    open_to = (p for p in work.partitions if may_use(board, work, p))
    return tuple(count for p in open_to for count in _counts(board, work, p))


def stops(counts: Iterable[Count]) -> Stops:
    """Where only a rule stops the work whose candidates got so far; some rules end by themselves.

    In each partition that counts which keeps the last candidates off.
    """
    best: dict[int, Count] = {}
    for count in counts:
        if count.partition not in best or count.depth > best[count.partition].depth:
            best[count.partition] = count
    fell = {partition: count.fell_at for partition, count in best.items()}
    limited = frozenset(p for p, reason in fell.items() if reason is Reason.QUOTA)
    lasting = _RULES - ENDING - {Reason.QUOTA}
    return Stops(frozenset(p for p, reason in fell.items() if reason in lasting), limited)


def explain(
    board: Board,
    work: Waiting,
    head: PlannedStart | None = None,
    counts: Sequence[Count] | None = None,
) -> Explanation:
    """Why the work does not start on this board. `head` is whose start it must not delay.

    `counts` are those of this board, where somebody has made them already.
    """
    if work.held_back or work.not_before_s > board.snapshot.now_s:
        return Explanation(
            workload=work.id, reason=Reason.HELD_BACK, level=Level.RULE, detail=work.held_back
        )
    if counts is None:
        counts = counted(board, work)
    if not counts:
        return Explanation(workload=work.id, reason=Reason.ACCESS, level=Level.RULE)
    best = max(counts, key=lambda count: count.depth)
    reason = best.fell_at or (Reason.TOPOLOGY if head is None else Reason.BEHIND)
    if reason in HOST and cards_first(board, work, best.grants, best.partition):
        reason = Reason.TOPOLOGY
    told = Explanation(
        workload=work.id,
        reason=reason,
        level=_level(board, work, reason),
        candidates=best.candidates,
        counts=_merged(best.removed),
        shortage=shortage_of(board, work, best.grants, best.last, reason, best.partition),
    )
    if head is not None and head.workload == work.id:
        return replace(told, starts_s=head.at_s)
    return told


def _level(board: Board, work: Waiting, reason: Reason) -> Level:
    if reason in _RULES:
        return Level.RULE
    if reason is Reason.BEHIND:
        return Level.ORDER
    return Level.BUSY if possible(board, work) else Level.NEVER


def _counts(board: Board, work: Waiting, partition: int) -> list[Count]:
    """One count for each mode, or one over nodes when no card is needed."""
    if not work.need.parts:
        size = len(board.nodes.states)
        return [_count(host_only_sieve(board, work, partition), size, partition, None, None)]
    found = []
    for mode in modes_offered(board, work, partition):
        grants = grants_for(board, work, partition, mode)
        sieved = sieve(board, work, partition, mode, grants, board.rows[partition])
        found.append(_count(sieved, len(board.rows[partition]), partition, mode, grants))
    return found


def _count(
    sieved: Iterable[tuple[Reason, Flags]],
    size: int,
    partition: int,
    mode: Mode | None,
    grants: Grants | None,
) -> Count:
    left = np.ones(size, dtype=np.bool_)
    removed: list[tuple[Reason, int]] = []
    for reason, passes in sieved:
        after = left & passes
        lost = int(left.sum()) - int(after.sum())
        removed.append((reason, lost))
        if not after.any():
            return Count(partition, mode, size, tuple(removed), reason, left, grants)
        left = after
    return Count(partition, mode, size, tuple(removed), None, left, grants)


def _merged(removed: tuple[tuple[Reason, int], ...]) -> tuple[tuple[Reason, int], ...]:
    """One count for each reason that removed anything, in filter order."""
    totals: dict[Reason, int] = {}
    for reason, lost in removed:
        totals[reason] = totals.get(reason, 0) + lost
    return tuple((reason, lost) for reason, lost in totals.items() if lost)


def possible(board: Board, work: Waiting) -> bool:
    """Whether the pool's hardware could hold the work if nothing else were there."""
    key = ("possible", work.need, work.kind, work.purpose, work.partitions)
    found: bool | None = board.words.memo.get(key)
    if found is None:
        plain = replace(work, avoid=frozenset(), tenants=(), kept=frozenset())
        plain = replace(plain, priority_class=PriorityClass.NORMAL)
        parts = {p: replace(s, open_to=None) for p, s in board.parts.items()}
        found = offer(replace(_empty(board), parts=parts), plain) is not None
        board.words.memo[key] = found
    return found


def _empty(board: Board) -> Board:
    """The board with no work on it and every card and node offered; laid out once a board."""
    found: Board | None = board.words.memo.get("empty")
    if found is not None:
        return found
    snapshot = replace(board.snapshot, windows=(), reservations=(), promises=())
    empty = replace(board.copy(), snapshot=snapshot, seats={})
    states, nodes, cards = empty.nodes.states, empty.nodes, empty.cards
    nodes.cpu = _ints(n.cpu_milli for n in states)
    nodes.memory = _ints(n.memory_mib for n in states)
    nodes.disk = _ints(n.disk_mib for n in states)
    nodes.trust[:], nodes.busy[:], nodes.offered[:] = FREE, 0, True
    cards.trust[:], cards.offered[:] = FREE, True
    for row in range(len(cards.ids)):
        cards.pieces[row] = ()
        empty.refresh(row)
    board.words.memo["empty"] = empty
    return empty


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)
