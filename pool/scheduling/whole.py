"""Whole cards: one node's best linked set, or whole nodes of one network domain and a remainder."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from pool.scheduling.board import Board, Flags, Ints, Times
from pool.scheduling.calendar import forecast_s
from pool.scheduling.fit import host_share
from pool.scheduling.model import Policy, SliceState, Topology, Waiting
from pool.scheduling.score import fragments, node_deltas
from pool.scheduling.words import NO_DOMAIN

NVLINK = 100
"""A link's score is so much higher for each NVLink it has."""

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
    """The NVLink domains of one node that have enough of these cards free.

    Cards that name no domain are one together where NVLink joins each of them to each other.
    """
    cards = board.cards
    found: dict[int, list[int]] = {}
    bare: list[list[int]] = []
    for row in members:
        if cards.domain[row] != NO_DOMAIN:
            found.setdefault(int(cards.domain[row]), []).append(row)
            continue
        for group in bare:
            if all(cards.links[row].get(other, 0) >= NVLINK for other in group):
                group.append(row)
                break
        else:
            bare.append([row])
    groups = [*found.values(), *(group for group in bare if len(group) > 1 or parts == 1)]
    return [group for group in groups if len(group) >= parts]


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
    """What counts, first things first: strong cards, for several cards on one node the most
    NVLink among them, least made useless, other links, then fullest or emptiest.

    Where fragments count, a node whose work ends when this one does comes before a full one, so
    that whole nodes come free together.
    """
    strength = np.array([-kind.strength for kind in board.kinds], dtype=np.int64)
    yield lambda which: strength[cells.kind[which]]
    near = _near(board, work)
    if near:
        yield lambda which: _ties(board, cells, which, work.need.parts) // NVLINK
    if policy is Policy.FRAGMENTATION:
        table = fragments(board)
        if table is not None:
            yield lambda which: node_deltas(
                board, table, work, cells.node[which], cells.kind[which]
            )
        if work.declared_s is not None:
            yield lambda which: _stretched(board, work, cells.node[which])
    if near:
        yield lambda which: _ties(board, cells, which, work.need.parts)
    emptiest = policy is Policy.SPREAD
    yield lambda which: -cells.count[which] if emptiest else cells.count[which]
    yield lambda which: cells.moves[which]


def _near(board: Board, work: Waiting) -> bool:
    """Whether links between cards could make a node better for the work than another one."""
    if work.need.parts < 2 or work.need.topology not in (Topology.NODE, Topology.LINKED):
        return False
    linked: bool | None = board.words.memo.get("linked")
    if linked is None:
        linked = board.words.memo["linked"] = any(board.cards.links)
    return linked


def _ties(board: Board, cells: Cells, which: Ints, parts: int) -> Ints:
    """Minus the summed link scores of the best set of so many cards in each of these cells."""
    memo = board.words.memo
    found = np.zeros(len(which), dtype=np.int64)
    for n, cell in enumerate(which.tolist()):
        members = cells.members(cell)
        if len(members) < parts or not any(board.cards.links[row] for row in members):
            continue
        key = ("ties", parts, tuple(members))
        if key not in memo:
            memo[key] = _linked(board, best_set(board, members, parts))
        found[n] = -memo[key]
    return found


def _stretched(board: Board, work: Waiting, nodes: Ints) -> Times:
    """By how many seconds each of these nodes would be busy longer; an empty one comes last."""
    mine = board.slots()[0][nodes]
    ends = np.where(mine >= 0, board.cards.ends[mine], -np.inf).max(axis=1, initial=-np.inf)
    now = board.snapshot.now_s
    until = now + forecast_s(work, board.snapshot.rules)
    later: Times = np.where(ends > now, np.maximum(0.0, until - ends), np.inf)
    return later


def _spread(board: Board, work: Waiting, cells: Cells, policy: Policy) -> tuple[int, ...] | None:
    """One card on each of several nodes, in as many racks as there are; a node whose rack nobody
    knows counts as one of its own."""
    chosen: dict[int, int] = {}
    for i in _ranked(board, work, cells, cells.count > 0, policy):
        chosen.setdefault(int(cells.node[i]), best_set(board, cells.members(i), 1)[0])
    if len(chosen) < work.need.parts:
        return None
    left, used, rows = list(chosen), Counter[object](), list[int]()
    while len(rows) < work.need.parts:
        node = min(left, key=lambda one: used[_rack(board, one)])
        left.remove(node)
        used[_rack(board, node)] += 1
        rows.append(chosen[node])
    return tuple(rows)


def _rack(board: Board, node: int) -> object:
    return board.nodes.states[node].rack or node


def apart(board: Board, work: Waiting, rows: Ints) -> Iterator[Ints]:
    """These rows, those first that lie in racks, then on nodes, then on cards with the fewest that
    serve with the work; all at once for work that serves with nobody."""
    mates = _mates(board, work)
    here = [int(r) for r, some in enumerate(board.cards.pieces) if _any_of(some, mates)]
    if not here:
        yield rows
        return
    nodes = [int(board.cards.node[row]) for row in here]
    in_rack = Counter(_rack(board, node) for node in nodes)
    on_node, on_card = Counter(nodes), Counter(here)
    tiers: dict[tuple[int, int, int], list[int]] = {}
    for row in rows.tolist():
        node = int(board.cards.node[row])
        key = (in_rack[_rack(board, node)], on_node[node], on_card[row])
        tiers.setdefault(key, []).append(row)
    for key in sorted(tiers):
        yield np.array(tiers[key], dtype=np.int64)
    if len(tiers) > 1 and work.need.parts > 1:
        yield rows


def _any_of(pieces: Sequence[SliceState], mates: frozenset[int]) -> bool:
    return any(piece.held_by in mates for piece in pieces)


def _mates(board: Board, work: Waiting) -> frozenset[int]:
    """All work of the same endpoint, running or placed in this round."""
    if not work.endpoint:
        return frozenset()
    snapshot = board.snapshot
    found = {run.id for run in snapshot.running if run.endpoint == work.endpoint}
    return frozenset(found | {one.id for one in snapshot.waiting if one.endpoint == work.endpoint})


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
        shape = _shape(work, cap)
        if _one_node(work, shape):
            found = _single(board, work, cells, here, policy)
        else:
            found = _fill(board, work, cells, _ranked(board, work, cells, here, policy), shape, cap)
        if found is not None:
            return found
    return None


def _one_node(work: Waiting, shape: tuple[tuple[int, int], ...]) -> bool:
    """Whether all its cards come from one node, whichever."""
    return len(shape) == 1 and shape[0][1] == 1 and work.need.topology is not Topology.WHOLE_NODES


def _single(
    board: Board, work: Waiting, cells: Cells, here: Flags, policy: Policy
) -> tuple[int, ...] | None:
    """The first in order of liking that has them all; the rest need no order."""
    parts = work.need.parts
    fine = here & (cells.count >= parts)
    for i in np.flatnonzero(fine).tolist():
        fine[i] = _host_ok(board, work, int(cells.node[i]), parts)
    best = _liked(board, work, cells, fine, policy)
    return None if best is None else tuple(sorted(best_set(board, cells.members(best), parts)))


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
    board: Board,
    work: Waiting,
    cells: Cells,
    order: Sequence[int],
    shape: tuple[tuple[int, int], ...],
    cap: int,
) -> tuple[int, ...] | None:
    """Alike on the nodes that were asked for; else whole nodes, then the fullest with the rest."""
    entire = work.need.topology is Topology.WHOLE_NODES and not work.need.nodes
    chosen: list[int] = []
    used: set[int] = set()
    for count, times in shape:
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
