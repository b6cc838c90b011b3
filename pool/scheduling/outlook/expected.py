"""When waiting work is expected to start: in half of all cases, and in nine tenths of them."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pool.carving.sizes import MICRO
from pool.scheduling.board import LATE_S, Board, Times, build
from pool.scheduling.fit import Grants, grants_for, modes_offered
from pool.scheduling.grant import Grant
from pool.scheduling.model import Level, Plan, Rules, Running, Snapshot, Topology, Waiting
from pool.scheduling.quota import card_room
from pool.scheduling.stock import NEVER
from pool.scheduling.take import take

MOST = 1000
"""So much of the queue is looked at, first ones first: nobody plans by what stands behind."""

MOST_SHAPES = 64
"""So many unlike shares are looked at; each costs one look at the pool's running work."""

SLOW = frozenset({Level.BUSY, Level.ORDER})
"""Who waits for room or for others; what a rule forbids starts at no time that can be told."""


@dataclass(slots=True)
class Ahead:
    """The pool's time to come. `free` says by cell and place when a card is free, soonest first.

    A cell is one node's cards of one kind. `slots` are, for each kind of share, when one can
    start. `stretch` is whether work is taken to run as long as its owner's work has (P90).
    """

    board: Board
    ends: Mapping[int, float]
    stretch: bool
    cell_kind: np.ndarray
    free: Times
    slots: dict[object, list[float]] = field(default_factory=dict)

    @property
    def now_s(self) -> float:
        """The time of the look."""
        return self.board.snapshot.now_s


def expect(snapshot: Snapshot, made: Plan, planned: Board | None = None) -> Plan:
    """The same plan, with expected starts on what waits for room or for others.

    `planned` is the board on which it was planned, as the plan left it.
    """
    found = expected(snapshot, made, planned)
    waits = {
        key: replace(told, starts_p50_s=found[key][0], starts_p90_s=found[key][1])
        if key in found
        else told
        for key, told in made.waits.items()
    }
    return replace(made, waits=waits)


def expected(
    snapshot: Snapshot, made: Plan, planned: Board | None = None
) -> Mapping[int, tuple[float, float]]:
    """By workload the times (P50, P90) at which it starts if all go in their order.

    At P50 work is taken to run as declared, at P90 as long as its owner's work has run past that.
    What could slip in before others may start sooner; what is not in the answer has no time that
    can be told: a rule bars it, it fits nowhere, or it stands behind the first `MOST`.
    """
    works = {work.id: work for work in snapshot.waiting}
    told = sorted(made.waits.values(), key=lambda t: (t.position, t.workload))
    order = [works[t.workload] for t in told if t.level in SLOW][:MOST]
    if not order:
        return {}
    board = planned or build(snapshot)
    for placed in made.placed if planned is None else ():
        take(board, works[placed.workload], placed)
    half, most = (_starts(_ahead(board, made, stretch=s), order) for s in (False, True))
    return {key: (at, max(at, most[key])) for key, at in half.items() if key in most}


def _starts(ahead: Ahead, order: Sequence[Waiting]) -> dict[int, float]:
    """Let each start as soon as it can beside those before it."""
    found: dict[int, float] = {}
    for work in order:
        at = min((_start(ahead, work, p) for p in work.partitions[:1]), default=np.inf)
        if np.isfinite(at):
            found[work.id] = float(at)
    return found


def _start(ahead: Ahead, work: Waiting, partition: int) -> float:
    """When it starts in this partition, and take that time from those behind."""
    if not work.need.parts or partition not in ahead.board.rows:
        return np.inf
    for mode in modes_offered(ahead.board, work, partition):
        grants = grants_for(ahead.board, work, partition, mode)
        kinds = [
            i
            for i, granted in enumerate(grants.by_kind)
            if isinstance(granted, Grant)
            and ahead.board.kinds[i].partition == partition
            and _under_limit(ahead.board, work, partition, i, granted)
        ]
        if kinds and work.need.whole:
            return _whole(ahead, work, kinds)
        if kinds:
            return _share(ahead, work, (partition, mode), kinds, grants)
    return np.inf


def _under_limit(board: Board, work: Waiting, partition: int, kind: int, granted: Grant) -> bool:
    """Whether the limits leave room for it now; when they will is not known."""
    room = card_room(board, work, partition, board.kinds[kind].label)
    return granted.card_micro * work.need.parts <= room


def _whole(ahead: Ahead, work: Waiting, kinds: Sequence[int]) -> float:
    """The cell whose n-th card is free first; for gangs over nodes the first ones together."""
    parts, width = work.need.parts, ahead.free.shape[1]
    fine = np.isin(ahead.cell_kind, kinds)
    one = work.need.topology in (Topology.NODE, Topology.LINKED) or parts <= width
    each = parts if one and work.need.topology is not Topology.SPREAD else min(parts, width)
    each = 1 if work.need.topology is Topology.SPREAD else each
    if each > width:
        return np.inf
    ready = np.where(fine, ahead.free[:, each - 1], np.inf)
    cells = np.argsort(ready, kind="stable")[: -(-parts // each)]
    at = float(ready[cells].max(initial=ahead.now_s))
    if len(cells) * each < parts or not np.isfinite(at):
        return np.inf
    ahead.free[cells, :each] = at + _runs_s(work, ahead)
    ahead.free[cells] = np.sort(ahead.free[cells], axis=1)
    return at


def _share(
    ahead: Ahead, work: Waiting, where: tuple[object, ...], kinds: Sequence[int], grants: Grants
) -> float:
    """The next time at which a share of that size comes free; each one is given once."""
    key = (work.need, *where)
    if key not in ahead.slots:
        if len(ahead.slots) >= MOST_SHAPES:
            return np.inf
        ahead.slots[key] = _slots(ahead, kinds, grants)
    slots, at = ahead.slots[key], ahead.now_s
    if len(slots) < work.need.parts:
        return np.inf
    for _ in range(work.need.parts):
        at = max(at, heapq.heappop(slots))
    for _ in range(work.need.parts):
        heapq.heappush(slots, at + _runs_s(work, ahead))
    return at


def _slots(ahead: Ahead, kinds: Sequence[int], grants: Grants) -> list[float]:
    """When shares of that size come free on cards of these kinds, as their holders end."""
    board, cards = ahead.board, ahead.board.cards
    found: list[float] = []
    for row in np.flatnonzero(np.isin(cards.kind, kinds) & cards.offered).tolist():
        size = max(1, int(grants.micro[cards.kind[row]]))
        holders = {p.held_by for p in cards.pieces[row] if p.held_by is not None}
        held = sorted((ahead.ends.get(h, np.inf), _micro(board, row, h)) for h in holders)
        free = MICRO - sum(micro for _, micro in held)
        found += [ahead.now_s] * max(0, free // size)
        free = max(0, free) % size
        for end, micro in held:
            free += micro
            found += [end] * (free // size)
            free %= size
    heapq.heapify(found)
    return found


def _micro(board: Board, row: int, holder: int) -> int:
    """How much of the card at this row its holder has: the larger of compute and memory."""
    size: int = board.kinds[board.cards.kind[row]].size.memory_mib
    mine = [p for p in board.cards.pieces[row] if p.held_by == holder]
    compute = sum(p.compute_milli for p in mine) * 1000
    memory: int = sum(p.memory_mib for p in mine) * MICRO // max(1, size)
    return max(compute, memory)


def _ahead(board: Board, made: Plan, *, stretch: bool) -> Ahead:
    snapshot, cards = board.snapshot, board.cards
    ends = {run.id: _ends_s(snapshot, run, stretch) for run in snapshot.running}
    starting = {placed.workload for placed in made.placed}
    for work in snapshot.waiting:
        if work.id in starting:
            ends[work.id] = snapshot.now_s + _lasts_s(work, snapshot.rules, stretch)
    times = np.full(len(cards.ids), np.inf)
    for row in np.flatnonzero(cards.offered).tolist():
        holders = {p.held_by for p in cards.pieces[row] if p.held_by is not None}
        if holders:
            times[row] = max(ends.get(holder, np.inf) for holder in holders)
        elif cards.whole[row] != NEVER:
            times[row] = snapshot.now_s
    keys = cards.node * max(1, len(board.kinds)) + cards.kind
    cells, place = np.unique(keys, return_inverse=True)
    width = int(np.bincount(place).max(initial=1)) if len(place) else 1
    free = np.full((len(cells), width), np.inf)
    counts = np.zeros(len(cells), dtype=np.int64)
    for row, cell in enumerate(place.tolist()):
        free[cell, counts[cell]] = times[row]
        counts[cell] += 1
    kinds = cells % max(1, len(board.kinds))
    return Ahead(board, ends, stretch, kinds, np.sort(free, axis=1))


def _ends_s(snapshot: Snapshot, run: Running, stretch: bool) -> float:
    """When running work ends: as declared, or stretched by its owner's past overruns."""
    if run.ends_s is None:
        until = run.started_s + snapshot.rules.unknown_duration_s
    else:
        ratio = max(1.0, run.p90_ratio) if stretch and not run.leaving else 1.0
        until = run.started_s + (run.ends_s - run.started_s) * ratio
    return until if until >= snapshot.now_s else snapshot.now_s + LATE_S


def _runs_s(work: Waiting, ahead: Ahead) -> float:
    return _lasts_s(work, ahead.board.snapshot.rules, ahead.stretch)


def _lasts_s(work: Waiting, rules: Rules, stretch: bool) -> float:
    if work.declared_s is None:
        return rules.unknown_duration_s
    return work.declared_s * (max(1.0, work.p90_ratio) if stretch else 1.0)
