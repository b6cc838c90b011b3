"""Whole cards: one node's best linked set, or whole nodes of one network domain and a remainder."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from pool.scheduling.board import Board, Flags, Ints, Times
from pool.scheduling.calendar import forecast_s
from pool.scheduling.fit import host_share
from pool.scheduling.model import Policy, Topology, Waiting
from pool.scheduling.score import fragments, node_deltas

Liking = Callable[[Ints], Ints | Times]
"""One thing that counts, for the cells at these places; less is better."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Free cards grouped by node and kind: a gang's cards are alike.

    `rows` lists the cards cell after cell, from `starts`; `moves` is what giving a cell's cards
    away would take.
    """

    node: Ints
    kind: Ints
    count: Ints
    moves: Ints
    rows: Ints
    starts: Ints

    def members(self, cell: int) -> list[int]:
        """The rows of one cell's cards, lowest first."""
        first = int(self.starts[cell])
        found: list[int] = self.rows[first : first + int(self.count[cell])].tolist()
        return found


def cells_of(board: Board, rows: Ints) -> Cells:
    """Group these rows into cells, in the order of node and kind."""
    width = len(board.kinds)
    key = board.cards.node[rows] * width + board.cards.kind[rows]
    if (key[1:] < key[:-1]).any():
        order = np.argsort(key, kind="stable")
        key, rows = key[order], rows[order]
    ordered = key
    edge = np.ones(len(rows), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=edge[1:])
    starts = np.flatnonzero(edge)
    keys, counts = ordered[starts], np.full(len(starts), len(rows))
    counts[:-1] = starts[1:]
    counts -= starts
    moves = np.add.reduceat(board.cards.whole[rows], starts) if len(keys) else counts
    return Cells(keys // width, keys % width, counts, moves, rows, starts)


def pick_whole(board: Board, work: Waiting, rows: Ints, policy: Policy) -> tuple[int, ...] | None:
    """The rows of the cards for a gang of whole cards, or None when these rows hold none."""
    cells = cells_of(board, rows)
    if not len(cells.node):
        return None
    topology = work.need.topology
    if topology is Topology.SPREAD:
        return _spread(board, work, cells, policy)
    if topology in (Topology.NETWORK, Topology.WHOLE_NODES, Topology.ANYWHERE):
        return _across(board, work, cells, policy)
    return _inside(board, work, cells, policy)


def _inside(board: Board, work: Waiting, cells: Cells, policy: Policy) -> tuple[int, ...] | None:
    parts = work.need.parts
    enough = cells.count >= parts
    if work.need.topology is Topology.LINKED:
        groups = [_domains(board, cells.members(i), parts) for i in range(len(cells.node))]
        enough &= np.array([bool(group) for group in groups], dtype=np.bool_)
    best = _liked(board, work, cells, enough, policy)
    if best is None:
        return None
    members = cells.members(best)
    if work.need.topology is Topology.LINKED:
        members = min(groups[best], key=lambda group: (len(group), group))
    return best_set(board, members, parts)


def _domains(board: Board, members: Sequence[int], parts: int) -> list[list[int]]:
    """The NVLink domains of one node that have enough of these cards free."""
    found: dict[int, list[int]] = {}
    for row in members:
        found.setdefault(int(board.cards.domain[row]), []).append(row)
    return [group for group in found.values() if len(group) >= parts]


def _ranked(board: Board, work: Waiting, cells: Cells, fine: Flags, policy: Policy) -> list[int]:
    """These cells in order of liking; ties by node."""
    able = np.flatnonzero(fine)
    likings = [liking(able) for liking in _likings(board, work, cells, policy)]
    kept: list[int] = able[np.lexsort(likings[::-1])].tolist()
    return kept


def _liked(board: Board, work: Waiting, cells: Cells, fine: Flags, policy: Policy) -> int | None:
    """The first in order of liking, found without ordering the rest; None where none is fine."""
    left = np.flatnonzero(fine)
    for liking in _likings(board, work, cells, policy):
        if len(left) < 2:
            break
        told = liking(left)
        left = left[told == told.min()]
    return int(left[0]) if len(left) else None


def _likings(board: Board, work: Waiting, cells: Cells, policy: Policy) -> Iterator[Liking]:
    """What counts, first things first: strong cards, least made useless, then fullest or emptiest.

    Where fragments count, a node whose work ends when this one does comes before a full one, so
    that whole nodes come free together.
    """
    strength = np.array([-kind.strength for kind in board.kinds], dtype=np.int64)
    yield lambda which: strength[cells.kind[which]]
    if policy is Policy.FRAGMENTATION:
        table = fragments(board)
        if table is not None:
            yield lambda which: node_deltas(
                board, table, work, cells.node[which], cells.kind[which]
            )
        if work.declared_s is not None:
            yield lambda which: _stretched(board, work, cells.node[which])
    emptiest = policy is Policy.SPREAD
    yield lambda which: -cells.count[which] if emptiest else cells.count[which]
    yield lambda which: cells.moves[which]


def _stretched(board: Board, work: Waiting, nodes: Ints) -> Times:
    """By how many seconds each of these nodes would be busy longer; an empty one comes last."""
    mine = board.slots()[0][nodes]
    ends = np.where(mine >= 0, board.cards.ends[mine], -np.inf).max(axis=1, initial=-np.inf)
    now = board.snapshot.now_s
    until = now + forecast_s(work, board.snapshot.rules)
    later: Times = np.where(ends > now, np.maximum(0.0, until - ends), np.inf)
    return later


def _spread(board: Board, work: Waiting, cells: Cells, policy: Policy) -> tuple[int, ...] | None:
    chosen: dict[int, int] = {}
    for i in _ranked(board, work, cells, cells.count > 0, policy):
        chosen.setdefault(int(cells.node[i]), best_set(board, cells.members(i), 1)[0])
    rows = list(chosen.values())[: work.need.parts]
    return tuple(rows) if len(rows) == work.need.parts else None


def _across(board: Board, work: Waiting, cells: Cells, policy: Policy) -> tuple[int, ...] | None:
    """Try each kind and network domain by itself: nodes of one gang are alike and near.

    Work that may lie anywhere knows no domains.
    """
    networks = board.nodes.network[cells.node]
    if work.need.topology is Topology.ANYWHERE:
        networks = np.zeros_like(networks)
    sizes = _sizes(board)
    for kind, network in sorted(set(zip(cells.kind.tolist(), networks.tolist(), strict=True))):
        here = (cells.kind == kind) & (networks == network)
        cap = max(sizes[kind, node] for node in cells.node[here].tolist())
        order = [i for i in _ranked(board, work, cells, here, policy)]
        found = _fill(board, work, cells, order, cap)
        if found is not None:
            return found
    return None


def _sizes(board: Board) -> dict[tuple[int, int], int]:
    """How many cards of each kind each node has, free or not; counted once a board."""
    known: dict[tuple[int, int], int] | None = board.words.memo.get("sizes")
    if known is None:
        pairs = np.stack((board.cards.kind, board.cards.node))
        found, counts = np.unique(pairs, axis=1, return_counts=True)
        known = {(int(k), int(n)): int(c) for k, n, c in zip(*found, counts, strict=True)}
        board.words.memo["sizes"] = known
    return known


def _fill(
    board: Board, work: Waiting, cells: Cells, order: Sequence[int], cap: int
) -> tuple[int, ...] | None:
    """Alike on the nodes that were asked for; else whole nodes, then the fullest with the rest."""
    entire = work.need.topology is Topology.WHOLE_NODES and not work.need.nodes
    chosen: list[int] = []
    used: set[int] = set()
    for count, times in _shape(work, cap):
        least = cap if entire else count
        able = [i for i in order if cells.count[i] >= least and int(cells.node[i]) not in used]
        able = [i for i in able if _host_ok(board, work, int(cells.node[i]), count)]
        if len(able) < times:
            return None
        for i in able[:times]:
            chosen += best_set(board, cells.members(i), count)
            used.add(int(cells.node[i]))
    return tuple(sorted(chosen))


def _shape(work: Waiting, cap: int) -> tuple[tuple[int, int], ...]:
    """So many cards on so many nodes each, for nodes with at most `cap` cards."""
    need = work.need
    if need.nodes:
        return ((need.parts // need.nodes, need.nodes),)
    if need.topology is not Topology.WHOLE_NODES and need.parts <= cap:
        return ((need.parts, 1),)
    full, rest = divmod(need.parts, cap)
    return ((cap, full), (rest, 1 if rest else 0))


def _host_ok(board: Board, work: Waiting, node: int, parts: int) -> bool:
    share = host_share(work.need, parts)
    nodes = board.nodes
    return bool(
        nodes.cpu[node] >= share.cpu_milli
        and nodes.memory[node] >= share.memory_mib
        and nodes.disk[node] >= share.disk_mib
    )


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
