"""Could it ever start? The same offer on the pool as if it were empty and every rule were off."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from pool.scheduling.board import FREE, Board, Ints
from pool.scheduling.model import PriorityClass, Waiting
from pool.scheduling.offer import offer


def possible(board: Board, work: Waiting) -> bool:
    """Whether the pool's hardware could hold the work if nothing else were there."""
    key = ("possible", work.need, work.kind, work.purpose, work.partitions)
    found: bool | None = board.words.memo.get(key)
    if found is None:
        plain = replace(work, avoid=frozenset(), tenants=(), priority_class=PriorityClass.NORMAL)
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
