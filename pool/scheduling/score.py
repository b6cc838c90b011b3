"""How well it goes here: the capacity that a start would make useless for the recent demand.

After the fragmentation gradient of the FGD paper (Weng et al., ATC 2023), with three changes: what
a node's CPU and memory cannot carry counts as useless too, demand that few cards could serve weighs
more, and so does demand for small shares, since nothing else ever fills a leftover.
"""

from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from nodeagent.protocol.vocabulary import Mode
from pool.carving.sizes import FULL
from pool.scheduling.board import SOFT_CODES, Board, Ints
from pool.scheduling.fit import Grants, HostShare, grants_for, host_share
from pool.scheduling.grant import Grant, modes_for
from pool.scheduling.model import Demand, Need, Waiting
from pool.scheduling.stock import NEVER

Floats = npt.NDArray[np.float32]

SCARCITY = 0.5
"""How much more a demand weighs that fewer cards could serve: its weight over capacity to this."""

SMALLNESS = 2.0
"""How much more a small share weighs: its weight over its part of a card to this."""

WHOLE_WEIGHT = 0.5
"""What a demand for one whole card weighs: any untouched card serves it, so no leftover matters."""

HOST_PACE = 0.9
"""How much of the average demand's CPU and memory a free card must find on its node to count."""

CHUNK = 512
"""States judged at once; bounds the memory of one step."""

FEW = 64
"""Up to so many states are looked up one by one; more are judged together."""

MOST_JUDGED = 100_000
"""So many states of nodes are remembered before all are forgotten."""


@dataclass(frozen=True, slots=True)
class Mix:
    """The recent demand as arrays. `milli` is one part's share by kind of card, 0 where barred.

    `pace` is the CPU and the memory that a thousandth of a card draws on the average; `judged` are
    the states of nodes for which `useless` has an answer already.
    """

    cpu: Floats
    memory: Floats
    parts: Floats
    whole: npt.NDArray[np.bool_]
    milli: Floats
    weight: Floats
    pace: tuple[float, float]
    judged: dict[bytes, np.float32] = field(default_factory=dict, compare=False)


@dataclass(slots=True)
class Known:
    """Deltas worked out before, and the stamp of the node that each was worked out for."""

    delta: npt.NDArray[np.float64]
    stamp: Ints


@dataclass(slots=True)
class Fragments:
    """The warm table of one pool: deltas per kind of start, kept until their node changes."""

    mix: Mix
    slots: Ints
    place: Ints
    known: dict[object, Known] = field(default_factory=dict)
    base: Known | None = None


def fragments(board: Board) -> Fragments | None:
    """The pool's warm table, made on first use; None when no recent demand is known."""
    if not board.snapshot.demand or not len(board.cards.ids):
        return None
    found: Fragments | None = board.words.memo.get("fragments")
    if found is None:
        slots, place = board.slots()
        found = Fragments(_mix(board), slots, place)
        board.words.memo["fragments"] = found
    return found


def _mix(board: Board) -> Mix:
    demands = sorted(board.snapshot.demand, key=lambda d: _spelled(d.need))
    milli = np.array([_milli(board, demand) for demand in demands], dtype=np.float32)
    seen = np.array([demand.weight for demand in demands], dtype=np.float64)
    parts = np.array([d.need.parts for d in demands], dtype=np.float32)
    whole = np.array([d.need.whole for d in demands], dtype=np.bool_)
    cpu = np.array([d.need.cpu_milli for d in demands], dtype=np.float32)
    memory = np.array([d.need.host_memory_mib for d in demands], dtype=np.float32)
    capacity = _capacity(board, milli)
    size = _mean_size(board, milli)
    drawn = np.maximum((seen * parts * size).sum(), 1.0) / HOST_PACE
    on_cards = np.where(parts > 0, seen, 0.0)
    weight = seen * np.where(parts > 0, (1.0 + capacity) ** -SCARCITY, 1.0)
    weight *= np.where((parts > 0) & ~whole, np.maximum(size / FULL, 1e-3) ** -SMALLNESS, 1.0)
    weight *= np.where((parts == 1) & whole, WHOLE_WEIGHT, 1.0)
    return Mix(
        cpu=cpu,
        memory=memory,
        parts=parts,
        whole=whole,
        milli=milli,
        weight=(weight / (weight.sum() or 1.0)).astype(np.float32),
        pace=(float((on_cards * cpu).sum() / drawn), float((on_cards * memory).sum() / drawn)),
    )


def _spelled(need: Need) -> str:
    """The need in one fixed spelling: sets in the order of their words, whoever prints them."""
    told = ((f.name, getattr(need, f.name)) for f in fields(need))
    return repr([(n, sorted(map(str, v)) if isinstance(v, frozenset) else v) for n, v in told])


def _milli(board: Board, demand: Demand) -> list[int]:
    """One part's share of each kind of card, in thousandths; 0 where it cannot be."""
    need = demand.need
    if not need.parts:
        return [0] * len(board.kinds)
    plain = Waiting(id=0, uid="", tenants=(), trust="", need=need, partitions=(), submitted_s=0.0)
    found = [0] * len(board.kinds)
    for mode in modes_for(plain):
        for i, kind in enumerate(board.kinds):
            granted = grants_for(board, plain, kind.partition, mode).by_kind[i]
            if not found[i] and isinstance(granted, Grant):
                found[i] = share_milli(granted, kind.size.memory_mib)
    return found


def share_milli(granted: Grant, card_mib: int) -> int:
    """The larger of the grant's compute and memory, in thousandths of the card."""
    return max(granted.compute_milli, -(-granted.memory_mib * FULL // card_mib))


def _capacity(board: Board, milli: Floats) -> npt.NDArray[np.float64]:
    """How many cards' worth of each demand the empty pool could serve, alone."""
    sizes = np.bincount(board.cards.kind, minlength=len(board.kinds))
    each = np.where(milli > 0, np.floor(FULL / np.maximum(milli, 1)) * milli, 0.0)
    total: npt.NDArray[np.float64] = (each * sizes).sum(axis=1) / FULL
    return total


def _mean_size(board: Board, milli: Floats) -> npt.NDArray[np.float64]:
    """One part of each demand, in thousandths, on the average card that could serve it."""
    sizes = np.bincount(board.cards.kind, minlength=len(board.kinds)).astype(np.float64)
    able = (milli > 0) * sizes
    mean: npt.NDArray[np.float64] = (milli * able).sum(axis=1) / np.maximum(able.sum(axis=1), 1.0)
    return mean


def free_milli(board: Board, rows: Ints) -> Floats:
    """What these cards still have for shares, in thousandths; a card that is cut has none."""
    cards = board.cards
    sizes = np.array([kind.size.memory_mib for kind in board.kinds], dtype=np.int64)
    size = np.maximum(sizes[cards.kind[rows]], 1)
    soft = np.minimum(cards.compute[rows], cards.memory[rows] * FULL // size)
    shared = np.where(cards.soft[rows] == SOFT_CODES["none"], 0, soft)
    free = np.where(cards.whole[rows] != NEVER, FULL, shared)
    return np.where(cards.offered[rows], free, 0).astype(np.float32)


def useless(mix: Mix, cpu: Floats, memory: Floats, free: Floats, kind: Ints) -> Floats:
    """For each state of a node, the free thousandths that the demand, weighed, cannot use.

    `free` and `kind` are by state and card; a missing card is free 0 of kind 0.
    """
    states = np.column_stack((cpu, memory, free, kind.astype(np.float32)))
    if len(states) <= FEW:
        return _remembered(mix, states)
    alike, where = np.unique(states, axis=0, return_inverse=True)
    out = np.empty(len(alike), dtype=np.float32)
    for at in range(0, len(alike), CHUNK):
        out[at : at + CHUNK] = _useless(mix, alike[at : at + CHUNK])
    judged: Floats = out[where.reshape(-1)]
    return judged


def _remembered(mix: Mix, states: Floats) -> Floats:
    """The same for a few states: nodes come back to the states in which they were before."""
    keys = [state.tobytes() for state in states]
    fresh = list({key: at for at, key in enumerate(keys) if key not in mix.judged}.values())
    if fresh:
        if len(mix.judged) > MOST_JUDGED:
            mix.judged.clear()
            fresh = list(range(len(keys)))
        found = _useless(mix, states[fresh])
        mix.judged.update((keys[at], value) for at, value in zip(fresh, found, strict=True))
    return np.array([mix.judged[key] for key in keys], dtype=np.float32)


def _useless(mix: Mix, states: Floats) -> Floats:
    width = (states.shape[1] - 2) // 2
    cpu, memory, free = states[:, 0], states[:, 1], states[:, 2 : 2 + width]
    kind = states[:, 2 + width :].astype(np.int64)
    asked = mix.milli.T[kind].transpose(0, 2, 1)
    fits = (asked > 0) & (free[:, None, :] >= asked)
    usable = (fits * free[:, None, :]).sum(axis=2)
    counts = fits.sum(axis=2)
    enough = counts >= np.where(mix.whole, mix.parts, 1)
    able = (cpu[:, None] >= mix.cpu) & (memory[:, None] >= mix.memory)
    carried = np.minimum(cpu / max(mix.pace[0], 1e-6), memory / max(mix.pace[1], 1e-6))
    served = np.where(enough & able, np.minimum(usable, carried[:, None]), 0)
    total: Floats = free.sum(axis=1)[:, None] - np.where(mix.parts > 0, served, 0)
    weighed: Floats = (total * mix.weight).sum(axis=1)
    return weighed


def share_deltas(
    board: Board, table: Fragments, work: Waiting, rows: Ints, grants: Grants, mode: Mode
) -> npt.NDArray[np.float64]:
    """For each of these cards, what one part there would make useless; less is better."""
    sizes = [kind.size.memory_mib for kind in board.kinds]
    milli = np.array(
        [
            share_milli(g, s) if isinstance(g, Grant) else 0
            for g, s in zip(grants.by_kind, sizes, strict=True)
        ],
        dtype=np.float32,
    )
    known = _known(table, ("share", work.need, mode), len(board.cards.ids))
    nodes = board.cards.node[rows]
    stale = rows[known.stamp[rows] != board.nodes.stamp[nodes]]
    if len(stale):
        share = host_share(work.need, 1)
        free = _node_free(board, table, board.cards.node[stale])
        at = np.arange(len(stale))
        free[at, table.place[stale]] -= milli[board.cards.kind[stale]]
        _judge(board, table, known, stale, board.cards.node[stale], free, share)
    return known.delta[rows]


def node_deltas(
    board: Board, table: Fragments, work: Waiting, nodes: Ints, kinds: Ints
) -> npt.NDArray[np.float64]:
    """For each node and kind of card on it, what the whole gang there would make useless."""
    out = np.zeros(len(nodes), dtype=np.float64)
    for kind in np.unique(kinds).tolist():
        mine = kinds == kind
        known = _known(table, ("whole", work.need, kind), len(board.nodes.states))
        found = nodes[mine]
        stale = found[known.stamp[found] != board.nodes.stamp[found]]
        if len(stale):
            free = _node_free(board, table, stale)
            if work.need.parts:
                entire = (free == FULL) & (_node_kind(board, table, stale) == kind)
                free[entire & (np.cumsum(entire, axis=1) <= work.need.parts)] = 0
            share = host_share(work.need, work.need.parts)
            _judge(board, table, known, stale, stale, free, share)
        out[mine] = known.delta[found]
    return out


def _known(table: Fragments, key: object, size: int) -> Known:
    if key not in table.known:
        table.known[key] = _blank(size)
    return table.known[key]


def _blank(size: int) -> Known:
    return Known(np.zeros(size, dtype=np.float64), np.full(size, -1, dtype=np.int64))


def _judge(
    board: Board,
    table: Fragments,
    known: Known,
    places: Ints,
    nodes: Ints,
    free: Floats,
    share: HostShare,
) -> None:
    """Work out the deltas of these places, whose nodes would be left with `free`."""
    cpu = (board.nodes.cpu[nodes] - share.cpu_milli).astype(np.float32)
    memory = (board.nodes.memory[nodes] - share.memory_mib).astype(np.float32)
    after = useless(table.mix, cpu, memory, free, _node_kind(board, table, nodes))
    change = after.astype(np.float64) - _before(board, table)[nodes]
    known.delta[places] = np.round(change, 1)
    known.stamp[places] = board.nodes.stamp[nodes]


def _before(board: Board, table: Fragments) -> npt.NDArray[np.float64]:
    """What is useless on each node as it stands."""
    if table.base is None:
        table.base = _blank(len(board.nodes.states))
    stale = np.flatnonzero(table.base.stamp != board.nodes.stamp)
    if len(stale):
        cpu = board.nodes.cpu[stale].astype(np.float32)
        memory = board.nodes.memory[stale].astype(np.float32)
        free, kind = _node_free(board, table, stale), _node_kind(board, table, stale)
        table.base.delta[stale] = useless(table.mix, cpu, memory, free, kind)
        table.base.stamp[stale] = board.nodes.stamp[stale]
    return table.base.delta


def _node_free(board: Board, table: Fragments, nodes: Ints) -> Floats:
    slots = table.slots[nodes]
    free = free_milli(board, slots)
    free[slots < 0] = 0
    return free


def _node_kind(board: Board, table: Fragments, nodes: Ints) -> Ints:
    slots = table.slots[nodes]
    kind: Ints = np.where(slots < 0, 0, board.cards.kind[slots])
    return kind
