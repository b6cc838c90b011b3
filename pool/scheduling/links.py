"""Which cards of one node belong together.

The best linked set, and the least damage to the rest.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb

from pool.scheduling.board import Board

MOST_SETS = 20_000
"""Beyond so many sets of cards the search grows a set card by card instead."""


def best_set(board: Board, rows: Sequence[int], count: int) -> tuple[int, ...]:
    """The `count` cards with the best links among them; then fewest moves, then the best rest.

    `rows` are free cards of one node. Where all links are alike, the cards with the fewest moves
    are taken, lowest first.
    """
    links = board.cards.links
    ordered = sorted(rows, key=lambda row: (int(board.cards.whole[row]), row))
    scores = {links[a].get(b, 0) for a, b in combinations(ordered, 2)}
    if count == len(ordered) or len(scores) <= 1:
        return tuple(sorted(ordered[:count]))
    if comb(len(ordered), count) > MOST_SETS:
        return _grown(board, ordered, count)
    return max(combinations(sorted(rows), count), key=lambda chosen: _merit(board, rows, chosen))


def _merit(
    board: Board, rows: Sequence[int], chosen: tuple[int, ...]
) -> tuple[int, int, int, tuple[int, ...]]:
    rest = [row for row in rows if row not in chosen]
    moves = sum(int(board.cards.whole[row]) for row in chosen)
    return (_linked(board, chosen), -moves, _linked(board, rest), tuple(-row for row in chosen))


def _linked(board: Board, rows: Sequence[int]) -> int:
    return sum(board.cards.links[a].get(b, 0) for a, b in combinations(rows, 2))


def _grown(board: Board, rows: Sequence[int], count: int) -> tuple[int, ...]:
    chosen = [rows[0]]
    while len(chosen) < count:
        left = [row for row in rows if row not in chosen]
        chosen.append(max(left, key=lambda row: (_linked(board, [*chosen, row]), -row)))
    return tuple(sorted(chosen))
