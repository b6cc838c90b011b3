"""Cards that stay free for urgent work: others do not take the last few of a kind."""

from collections.abc import Iterator

import numpy as np

from pool.carving.sizes import FULL
from pool.scheduling.board import Board, Flags, Ints
from pool.scheduling.model import PriorityClass, Reason, Waiting
from pool.scheduling.stock import NEVER

URGENT = frozenset({PriorityClass.HIGH, PriorityClass.CRITICAL})
"""Classes for which others give way; with room kept free they need not wait for that."""


def keep_headroom(board: Board) -> None:
    """Set how many cards of each kind stay free, by the snapshot that the board stands for.

    None at all where nobody gives way, and in partitions where no urgent work waits or runs.
    """
    snapshot = board.snapshot
    board.headroom = None
    if not snapshot.rules.preemption or not snapshot.rules.headroom_milli:
        return
    high, critical = PriorityClass.HIGH, PriorityClass.CRITICAL
    wanting = set()
    for run in snapshot.running:
        if run.priority_class is high or run.priority_class is critical:
            wanting.add(run.partition)
    for work in snapshot.waiting:
        if work.priority_class in URGENT:
            wanting.update(work.partitions)
    if wanting:
        fine = [_gives_way(board, kind.partition, wanting) for kind in board.kinds]
        wanted = _counts(board) * snapshot.rules.headroom_milli // FULL * np.array(fine, np.int64)
        board.headroom = wanted if wanted.any() else None


def _gives_way(board: Board, partition: int, wanting: set[int]) -> bool:
    state = board.parts.get(partition)
    return partition in wanting and (state is None or state.preemption)


def bound(board: Board, work: Waiting) -> bool:
    """Whether the work must leave the headroom alone.

    Not what is urgent itself, nor what has room promised or kept for it.
    """
    if board.headroom is None or work.priority_class in URGENT or work.kept:
        return False
    return all(promise.workload != work.id for promise in board.snapshot.promises)


def spared(board: Board, work: Waiting) -> Ints:
    """How many cards of each kind this work leaves free: fewer where it could never start else."""
    assert board.headroom is not None
    most: Ints = np.maximum(_counts(board) - work.need.parts, 0)
    return np.minimum(board.headroom, most)


def headroom_sieve(board: Board, work: Waiting, rows: Ints) -> Iterator[tuple[Reason, Flags]]:
    """Bar untouched cards of a kind of which too few would stay free."""
    if not bound(board, work):
        return
    cards = board.cards
    kind = cards.kind[rows]
    free = (cards.whole[rows] != NEVER) & cards.offered[rows]
    free &= board.nodes.offered[cards.node[rows]]
    left = np.bincount(kind[free], minlength=len(board.kinds)) - work.need.parts
    yield Reason.HEADROOM, ~free | (left >= spared(board, work))[kind]


def _counts(board: Board) -> Ints:
    """How many cards of each kind there are, free or not; counted once a board."""
    known: Ints | None = board.words.memo.get("kinds")
    if known is None:
        known = np.bincount(board.cards.kind, minlength=len(board.kinds))
        board.words.memo["kinds"] = known
    return known
