"""The working copy of a snapshot: arrays of nodes and cards that one round changes as it plans."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.claims import by_tenant
from pool.scheduling.kinds import CardKind, kind_of
from pool.scheduling.model import (
    NodeState,
    PartitionState,
    Quota,
    Running,
    SliceState,
    Snapshot,
)
from pool.scheduling.stock import NEVER, Stock, stock_of
from pool.scheduling.words import Sort, Words

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Times = npt.NDArray[np.float64]

FREE = -1
"""The trust code of a card or node that nobody is on."""

LATE_S = 600.0
"""How much longer work is forecast to run that should have ended already."""

SOFT_CODES = {"any": -1, "none": -2, **{mode.value: n for n, mode in enumerate(Mode)}}
_CHANGING = (
    "offered",
    "trust",
    "held",
    "whole",
    "layout",
    "entry",
    "soft",
    "compute",
    "memory",
    "encoders",
    "decoders",
    "count",
    "sort",
    "ends",
)


@dataclass(slots=True)
class NodeTable:
    """Nodes as arrays, in the order of their ids.

    `busy` counts the holds on each; `stamp` changes whenever anything on the node does.
    """

    states: tuple[NodeState, ...]
    index: dict[int, int]
    cpu: Ints
    memory: Ints
    disk: Ints
    trust: Ints
    busy: Ints
    offered: Flags
    single: Flags
    network: Ints
    stamp: Ints

    def copy(self) -> "NodeTable":
        return replace(
            self,
            cpu=self.cpu.copy(),
            memory=self.memory.copy(),
            disk=self.disk.copy(),
            trust=self.trust.copy(),
            busy=self.busy.copy(),
            offered=self.offered.copy(),
            stamp=self.stamp.copy(),
        )


@dataclass(slots=True)
class CardTable:
    """Cards as arrays, ordered by node and id, so that a node's cards are one run.

    `ends` is when the last of a card's holders is forecast to have left; the past when it has none.
    """

    ids: Ints
    index: dict[int, int]
    node: Ints
    kind: Ints
    domain: Ints
    offered: Flags
    trust: Ints
    held: Ints
    whole: Ints
    layout: Ints
    entry: Ints
    soft: Ints
    compute: Ints
    memory: Ints
    encoders: Ints
    decoders: Ints
    count: Ints
    sort: Ints
    ends: Times
    pieces: list[tuple[SliceState, ...]]
    modes: list[Mode | None]
    links: list[dict[int, int]]

    def copy(self) -> "CardTable":
        fresh = {name: getattr(self, name).copy() for name in _CHANGING}
        return replace(self, pieces=list(self.pieces), modes=list(self.modes), **fresh)


@dataclass(frozen=True, slots=True)
class Saved:
    """What one card was like before a trial."""

    pieces: tuple[SliceState, ...]
    mode: Mode | None
    trust: int


@dataclass(slots=True)
class Board:
    """One round's world. Copy it before trying something that may have to be undone.

    `live` says which cards may have something to give, and their rows by partition: none is
    missing, and some may have nothing left. `headroom` is how many cards of each kind stay free
    for urgent work; None is none anywhere.
    """

    snapshot: Snapshot
    words: Words
    kinds: tuple[CardKind, ...]
    nodes: NodeTable
    cards: CardTable
    parts: dict[int, PartitionState]
    rows: dict[int, Ints]
    quotas: dict[str, list[Quota]]
    held: dict[int, int]
    seats: dict[int, int]
    headroom: Ints | None = None
    live: tuple[Flags, dict[int, Ints]] | None = None

    def copy(self) -> "Board":
        return replace(
            self,
            nodes=self.nodes.copy(),
            cards=self.cards.copy(),
            held=dict(self.held),
            seats=dict(self.seats),
        )

    def tolerance_milli(self, partition: int) -> int:
        """How far short a slice's compute may fall there, in thousandths of a card (P10)."""
        state = self.parts.get(partition)
        own = state.tolerance_milli if state else None
        return self.snapshot.rules.compute_tolerance_milli if own is None else own

    def slots(self) -> tuple[Ints, Ints]:
        """The card rows of each node, padded with -1, and each card's place in that list."""
        found: tuple[Ints, Ints] | None = self.words.memo.get("slots")
        if found is None:
            node = self.cards.node
            counts = np.bincount(node, minlength=len(self.nodes.states))
            place = np.arange(len(node)) - (np.cumsum(counts) - counts)[node]
            table = np.full((len(counts), max(1, int(counts.max(initial=0)))), -1, dtype=np.int64)
            table[node, place] = np.arange(len(node))
            found = self.words.memo["slots"] = (table, place)
        return found

    def running(self, number: int) -> Running | None:
        """The running work of that id."""
        whose, known = self.words.memo.get("running", (None, {}))
        if whose is not self.snapshot.running:
            known = {running.id: running for running in self.snapshot.running}
            self.words.memo["running"] = (self.snapshot.running, known)
        found: Running | None = known.get(number)
        return found

    def open_rows(self, partition: int) -> Ints:
        """The rows of the partition's cards that may have something to give."""
        if self.live is None:
            gives = np.array([sort.gives for sort in self.words.sorts], dtype=np.bool_)
            flags = gives[self.cards.sort]
            self.live = (flags, {p: rows[flags[rows]] for p, rows in self.rows.items()})
        return self.live[1][partition]

    def match(self, other: "Board", card: int) -> None:
        """Let the card at this row be as on the other board, but for being on offer."""
        mine, theirs = self.cards, other.cards
        for name in _CHANGING:
            if name != "offered":
                getattr(mine, name)[card] = getattr(theirs, name)[card]
        mine.pieces[card], mine.modes[card] = theirs.pieces[card], theirs.modes[card]

    def lift(self, card: int) -> "Saved":
        """Remember the card at this row, so that a trial on it can be taken back."""
        table = self.cards
        return Saved(table.pieces[card], table.modes[card], int(table.trust[card]))

    def put_back(self, card: int, saved: "Saved") -> None:
        """Undo everything that was tried on the card at this row."""
        table = self.cards
        table.pieces[card], table.modes[card] = saved.pieces, saved.mode
        table.trust[card] = saved.trust
        self.refresh(card)

    def refresh(self, card: int) -> None:
        """Work out again what the card at this row can give, after its pieces changed."""
        table = self.cards
        stock, layout, sort = self._judged(int(table.kind[card]), card)
        table.held[card] = stock.held
        table.whole[card] = stock.whole
        table.layout[card] = layout
        table.entry[card] = stock.entry
        table.soft[card] = SOFT_CODES[stock.soft]
        table.compute[card] = stock.compute_milli
        table.memory[card] = stock.memory_mib
        table.encoders[card] = stock.encoders
        table.decoders[card] = stock.decoders
        table.count[card] = stock.soft_count
        table.sort[card] = sort
        if stock.gives and self.live is not None and not self.live[0][card]:
            self.live = None
        self.nodes.stamp[table.node[card]] = self.words.tick()

    def _judged(self, kind: int, card: int) -> tuple[Stock, int, int]:
        """What the card can give, with the numbers of its layout and sort.

        Remembered for cards with at most one piece, as most are.
        """
        pieces, mode = self.cards.pieces[card], self.cards.modes[card]
        key = ("stock", kind, mode, *map(_looks, pieces)) if len(pieces) < 2 else None
        known: tuple[Stock, int, int] | None = self.words.memo.get(key) if key else None
        if known is not None:
            return known
        stock = stock_of(self.kinds[kind], mode, pieces)
        layout = self.words.layout(stock.layout)
        sort = Sort(
            kind=kind,
            layout=layout,
            entry=stock.entry,
            soft=SOFT_CODES[stock.soft],
            untouched=stock.held == 0,
            whole=stock.whole != NEVER,
            coming=stock.coming,
            gives=stock.gives,
        )
        found = (stock, layout, self.words.sort(sort))
        if key:
            self.words.memo[key] = found
        return found


def _looks(piece: SliceState) -> tuple[object, ...]:
    """All that matters of a slice for what its card can give."""
    return (
        piece.mode,
        piece.profile,
        piece.start,
        piece.size,
        piece.memory_mib,
        piece.compute_milli,
        piece.encoder_units,
        piece.decoder_units,
        piece.stage,
        piece.held_by is None,
    )


def build(snapshot: Snapshot) -> Board:
    """Lay a snapshot out as arrays. The order of its tuples does not matter."""
    words = Words()
    nodes = node_table(snapshot, words)
    kinds, cards = _cards(snapshot, words, nodes.index)
    board = Board(
        snapshot=snapshot,
        words=words,
        kinds=kinds,
        nodes=nodes,
        cards=cards,
        parts={p.id: p for p in snapshot.partitions},
        rows=_rows(kinds, cards),
        quotas=by_tenant(snapshot.quotas),
        held={row.id: row.held for row in snapshot.quotas},
        seats={s.id: s.total - s.used for s in snapshot.seats},
    )
    for card, pieces in enumerate(cards.pieces):
        board.refresh(card)
        words.where.update((piece.id, card) for piece in pieces)
    for running in snapshot.running:
        rows = [words.where[s] for s in running.slices if s in words.where]
        cards.ends[rows] = np.maximum(cards.ends[rows], ends_s(snapshot, running))
    return board


def ends_s(snapshot: Snapshot, running: Running) -> float:
    """When running work is forecast to end: what was declared, stretched by past overruns.

    The rule's unknown duration where nobody said; a while from now where it is past all that.
    """
    now = snapshot.now_s
    if running.ends_s is None:
        until = running.started_s + snapshot.rules.unknown_duration_s
    else:
        stretch = 0.0 if running.leaving else max(0.0, running.p90_ratio - 1.0)
        until = running.ends_s + stretch * max(0.0, running.ends_s - running.started_s)
    if until >= now:
        return until
    return now if running.leaving else now + LATE_S


def _rows(kinds: tuple[CardKind, ...], cards: CardTable) -> dict[int, Ints]:
    """The rows of each partition's cards."""
    partitions = _ints(kind.partition for kind in kinds)
    own = partitions[cards.kind] if len(kinds) else cards.kind
    return {int(p): np.flatnonzero(own == p) for p in np.unique(own)}


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def code_of_trust(words: Words, trust: str | None) -> int:
    """The number of a trust group."""
    return FREE if trust is None else words.code(("trust", trust))


def node_table(snapshot: Snapshot, words: Words) -> NodeTable:
    """The nodes as arrays."""
    states = tuple(sorted(snapshot.nodes, key=lambda n: n.id))
    index = {node.id: i for i, node in enumerate(states)}
    busy = np.zeros(len(states), dtype=np.int64)
    for running in snapshot.running:
        for host in running.hosts:
            if host[0] in index:
                busy[index[host[0]]] += 1
    return NodeTable(
        states=states,
        index=index,
        cpu=_ints(n.cpu_free_milli for n in states),
        memory=_ints(n.memory_free_mib for n in states),
        disk=_ints(n.disk_free_mib for n in states),
        trust=_ints(code_of_trust(words, n.trust) for n in states),
        busy=busy,
        offered=np.array([n.offered for n in states], dtype=np.bool_),
        single=np.array([n.shared_by_one_group for n in states], dtype=np.bool_),
        network=_ints(words.code(("network", n.network)) for n in states),
        stamp=np.zeros(len(states), dtype=np.int64),
    )


def _cards(
    snapshot: Snapshot, words: Words, node_index: dict[int, int]
) -> tuple[tuple[CardKind, ...], CardTable]:
    states = sorted(
        (c for c in snapshot.cards if c.node in node_index),
        key=lambda c: (node_index[c.node], c.id),
    )
    index = {card.id: i for i, card in enumerate(states)}
    kinds: dict[CardKind, int] = {}
    codes = [kinds.setdefault(kind_of(card), len(kinds)) for card in states]
    judged = (name for name in _CHANGING if name not in ("offered", "trust", "ends"))
    zeros = {name: np.zeros(len(states), dtype=np.int64) for name in judged}
    table = CardTable(
        ids=_ints(c.id for c in states),
        index=index,
        node=_ints(node_index[c.node] for c in states),
        kind=_ints(codes),
        domain=_ints(words.domain(c.node, c.domain) for c in states),
        offered=np.array([c.offered for c in states], dtype=np.bool_),
        trust=_ints(code_of_trust(words, c.trust) for c in states),
        ends=np.zeros(len(states), dtype=np.float64),
        pieces=pieces_of(snapshot.slices, index),
        modes=[c.mode for c in states],
        links=[{index[p]: s for p, s in c.links if p in index} for c in states],
        **zeros,
    )
    return tuple(kinds), table


def pieces_of(slices: Sequence[SliceState], index: dict[int, int]) -> list[tuple[SliceState, ...]]:
    """The slices of the card at each row, by id."""
    found: list[list[SliceState]] = [[] for _ in index]
    for piece in sorted(slices, key=lambda s: s.id):
        if piece.card in index:
            found[index[piece.card]].append(piece)
    return [tuple(pieces) for pieces in found]
