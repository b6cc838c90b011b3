"""May it go here? Every filter in its order, each as flags over the cards or nodes in question."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from nodeagent.protocol.vocabulary import PLACED_MODES, Mode, WorkloadKind
from pool.carving.sizes import FULL
from pool.scheduling.board import SOFT_CODES, Board, Flags, Ints
from pool.scheduling.calendar import kept_away
from pool.scheduling.grant import Grant, grant, modes_for
from pool.scheduling.headroom import headroom_sieve
from pool.scheduling.isolation import (
    calm,
    keeps_apart,
    may_share,
    nodes_may_share,
    proven,
    wants_proof,
)
from pool.scheduling.model import (
    Ceiling,
    CeilingScope,
    Need,
    Reason,
    Topology,
    Unit,
    Waiting,
)
from pool.scheduling.parts import lying
from pool.scheduling.quota import card_room, host_room, seats_left
from pool.scheduling.stock import MOST_SOFT_SLICES, NEVER, idle, together
from pool.scheduling.trial import layout_open, trial_at
from pool.scheduling.words import NO_LAYOUT, Sort

Sieve = Iterator[tuple[Reason, Flags]]


@dataclass(frozen=True, slots=True)
class HostShare:
    """The CPU, memory and disk that one node must have free for the parts it would carry."""

    cpu_milli: int
    memory_mib: int
    disk_mib: int


def host_share(need: Need, parts: int) -> HostShare:
    """The need's host share for so many of its parts, rounded up."""
    if need.parts == 0:
        return HostShare(need.cpu_milli, need.host_memory_mib, need.disk_mib)
    return HostShare(
        cpu_milli=-(-need.cpu_milli * parts // need.parts),
        memory_mib=-(-need.host_memory_mib * parts // need.parts),
        disk_mib=-(-need.disk_mib * parts // need.parts),
    )


def least_parts_a_node(need: Need) -> int:
    """How many parts a node must carry at the least: all of them unless the work may span nodes."""
    if need.topology in (Topology.NODE, Topology.LINKED):
        return need.parts
    return need.parts // need.nodes if need.nodes else 1


@dataclass(frozen=True, slots=True)
class Grants:
    """The grant on each kind of card; a kind without one carries its reason.

    `barred` lists the reasons that occur, with the kinds that each one bars, in filter order;
    `judged` says of each sort of card met so far whether it can serve the grant at all.
    """

    by_kind: tuple[Grant | Reason, ...]
    micro: Ints
    memory: Ints
    compute: Ints
    barred: tuple[tuple[Reason, Flags], ...]
    judged: list[bool] = field(default_factory=list, compare=False)


def hopeful(board: Board, mode: Mode, grants: Grants, rows: Ints) -> Ints:
    """Which of these cards are of a sort that can serve the grant: the sieve need see no others."""
    sorts = board.words.sorts
    for sort in sorts[len(grants.judged) :]:
        grants.judged.append(sort.gives and _serves(board, mode, grants, sort))
    found: Ints = rows[np.array(grants.judged, dtype=np.bool_)[board.cards.sort[rows]]]
    return found


def _serves(board: Board, mode: Mode, grants: Grants, sort: Sort) -> bool:
    if not isinstance(grants.by_kind[sort.kind], Grant):
        return False
    if mode is Mode.WHOLE:
        return sort.whole
    if mode not in PLACED_MODES:
        return sort.soft in (SOFT_CODES["any"], SOFT_CODES[mode.value])
    return sort.layout != NO_LAYOUT and (
        trial_at(board, sort.kind, sort.layout, grants.by_kind) is not None
    )


def grants_for(board: Board, work: Waiting, partition: int, mode: Mode) -> Grants:
    """What one part would get on each kind of card of the pool in that mode."""
    external = work.kind is WorkloadKind.EXTERNAL
    key = ("grants", work.need, work.purpose, external, partition, mode)
    found: Grants | None = board.words.memo.get(key)
    if found is None:
        found = _grants(board, work, partition, mode)
        board.words.memo[key] = found
    return found


def _grants(board: Board, work: Waiting, partition: int, mode: Mode) -> Grants:
    external = work.kind is WorkloadKind.EXTERNAL
    ceilings = ceilings_for(board, work, partition)
    tolerance = board.tolerance_milli(partition)
    found = tuple(
        grant(kind, work.need, mode, external, ceilings, tolerance) for kind in board.kinds
    )
    sizes = [
        (g.card_micro, g.memory_mib, g.compute_milli) if isinstance(g, Grant) else (0, 0, 0)
        for g in found
    ]
    table = np.array(sizes, dtype=np.int64).reshape(len(found), 3)
    reasons = [reason for reason in Reason if reason in found]
    barred = tuple(
        (reason, np.array([g is reason for g in found], dtype=np.bool_)) for reason in reasons
    )
    return Grants(found, table[:, 0], table[:, 1], table[:, 2], barred)


def ceilings_for(board: Board, work: Waiting, partition: int) -> tuple[Ceiling, ...]:
    """The ceilings of the partition that bind this workload's purpose."""
    state = board.parts.get(partition)
    if state is None or not state.ceilings:
        return ()
    return tuple(c for c in state.ceilings if work.purpose in c.purposes)


def sieve(
    board: Board,
    work: Waiting,
    partition: int,
    mode: Mode,
    grants: Grants,
    rows: Ints,
    *,
    hopeful: bool = False,
) -> Sieve:
    """Filter by filter, which of these cards of the partition could take one part of the work.

    Of `hopeful` cards it is known that their sort can serve the grant, which says all of a place;
    what bars one of them is not told apart. Filters that bar nothing today are left out then.
    """
    kind = board.cards.kind[rows]
    node = board.cards.node[rows]
    for reason, barred in () if hopeful else grants.barred:
        yield reason, ~barred[kind]
    yield Reason.HEALTH, board.cards.offered[rows] & board.nodes.offered[node]
    if work.avoid:
        yield Reason.NODE_FAILED_IT, ~_named(board, work.avoid)[node]
    yield from _company(board, work, mode, rows, together=hopeful)
    if not hopeful or mode not in PLACED_MODES:
        yield from _capacity(board, work, mode, rows, grants)
    yield from headroom_sieve(board, work, rows)
    if work.need.heavy_bandwidth and mode is not Mode.WHOLE:
        yield Reason.BANDWIDTH, calm(board, mode, rows)
    yield from _sums(board, work, partition, rows, grants)
    yield from _hosts(board, work, node, together=hopeful)
    yield from _licence(board, work, partition, mode, rows)
    if not board.quotas.keys().isdisjoint(work.tenants):
        yield Reason.QUOTA, _quota(board, work, partition, grants)[kind]
    for reason, free in kept_away(board, work):
        yield reason, free[rows]


def _company(board: Board, work: Waiting, mode: Mode, rows: Ints, *, together: bool) -> Sieve:
    """Who may share a card with whom; `together` only where that could keep the work off one."""
    if not together or keeps_apart(board, mode):
        yield Reason.ISOLATION, may_share(board, work, mode, rows)
    if not together or wants_proof(work, mode):
        yield Reason.UNPROVEN, proven(board, work, mode, rows)


def _named(board: Board, nodes: frozenset[int]) -> Flags:
    return np.array([node.id in nodes for node in board.nodes.states], dtype=np.bool_)


def _capacity(board: Board, work: Waiting, mode: Mode, rows: Ints, grants: Grants) -> Sieve:
    cards = board.cards
    if mode is Mode.WHOLE:
        yield Reason.MEMORY, cards.whole[rows] != NEVER
    elif mode in PLACED_MODES:
        yield Reason.LAYOUT, cards.layout[rows] != NO_LAYOUT
        yield Reason.LAYOUT, layout_open(board, rows, grants.by_kind)
    else:
        soft = cards.soft[rows]
        yield Reason.MODE, (soft == SOFT_CODES["any"]) | (soft == SOFT_CODES[mode.value])
        there = soft_there(board, rows, grants)
        yield Reason.MEMORY, (cards.memory[rows] >= grants.memory[cards.kind[rows]]) | there
        yield Reason.COMPUTE, (cards.compute[rows] >= grants.compute[cards.kind[rows]]) | there
        yield from _engines(board, work.need, rows, there)
        yield Reason.LAYOUT, cards.count[rows] < MOST_SOFT_SLICES
        yield from _profiled(board, mode, rows, grants)


def _engines(board: Board, need: Need, rows: Ints, there: Flags) -> Sieve:
    """Video engines that the card's other shares have left."""
    if need.encoder_units:
        yield Reason.ENCODER, (board.cards.encoders[rows] >= need.encoder_units) | there
    if need.decoder_units:
        yield Reason.DECODER, (board.cards.decoders[rows] >= need.decoder_units) | there


def soft_there(board: Board, rows: Ints, grants: Grants) -> Flags:
    """On which of these cards just such a share is on its way already: it takes no more room."""
    coming = np.array([sort.coming for sort in board.words.sorts], dtype=np.bool_)
    there: Flags = coming[board.cards.sort[rows]]
    for i in np.flatnonzero(there).tolist():
        granted = grants.by_kind[board.cards.kind[rows[i]]]
        fits = isinstance(granted, Grant) and lying(board, int(rows[i]), granted) is not None
        there[i] = fits
    return there


def _profiled(board: Board, mode: Mode, rows: Ints, grants: Grants) -> Sieve:
    """A vendor's cut without places: alike ones on one card, and no more than its maximum."""
    if mode in (Mode.MPS, Mode.TIMESLICE):
        return
    fine = np.ones(len(rows), dtype=np.bool_)
    for i, row in enumerate(rows):
        granted = grants.by_kind[board.cards.kind[row]]
        geometry = board.kinds[board.cards.kind[row]].geometry(mode)
        if geometry is None or not isinstance(granted, Grant) or not granted.profiles:
            continue
        profile = geometry.profiles[granted.profiles[0]]
        staying = [p for p in board.cards.pieces[row] if p.mode is mode and not idle(p)]
        alike = all(together(mode, (p.profile, p.memory_mib), profile) for p in staying)
        fine[i] = len(staying) < profile.max_instances and alike
    yield Reason.LAYOUT, fine


def _sums(board: Board, work: Waiting, partition: int, rows: Ints, grants: Grants) -> Sieve:
    """Class ceilings on the sum of a card; counted only where the partition has any."""
    room = ceiling_room(board, work, partition, rows)
    if room is not None:
        yield Reason.CEILING, grants.compute[board.cards.kind[rows]] <= room


def ceiling_room(board: Board, work: Waiting, partition: int, rows: Ints) -> Ints | None:
    """How much more of each card's compute this work's class may take, in thousandths.

    None where no ceiling counts what is on a card already.
    """
    cards = board.cards
    ceilings = ceilings_for(board, work, partition)
    if all(ceiling.scope is CeilingScope.PER_WORKLOAD for ceiling in ceilings):
        return None
    left = np.full(len(rows), FULL, dtype=np.int64)
    mixed = np.array([kind.mixed for kind in board.kinds], dtype=np.bool_)[cards.kind[rows]]
    for ceiling in ceilings:
        if ceiling.scope is CeilingScope.PER_WORKLOAD:
            continue
        used = np.array(
            [
                sum(p.compute_milli for p in cards.pieces[row] if p.purpose in ceiling.purposes)
                for row in rows.tolist()
            ],
            dtype=np.int64,
        )
        binds = mixed | (ceiling.scope is CeilingScope.CARD_SUM)
        left = np.where(binds, np.minimum(left, ceiling.compute_milli - used), left)
    return left


def host_sieve(board: Board, work: Waiting, parts: int) -> Sieve:
    """Filter by filter, which nodes have the host share for so many parts."""
    need, nodes = work.need, board.nodes
    share = host_share(need, parts)
    yield Reason.CPU, nodes.cpu >= share.cpu_milli
    yield Reason.HOST_MEMORY, nodes.memory >= share.memory_mib
    yield Reason.DISK, nodes.disk >= share.disk_mib
    if need.storage or need.node_labels or need.runner != "process" or _choosy(board):
        yield Reason.STORAGE, np.array([need.storage <= n.storage for n in nodes.states])
        yield (
            Reason.CAPABILITY,
            np.array(
                [need.node_labels <= n.labels and need.runner in n.runners for n in nodes.states]
            ),
        )
    if need.topology is Topology.WHOLE_NODES:
        yield Reason.TOPOLOGY, nodes.busy == 0


def _choosy(board: Board) -> bool:
    """Whether some node does not run plain processes; looked at once for the same nodes."""
    states = board.nodes.states
    whose, found = board.words.memo.get("choosy", (None, False))
    if whose is not states:
        found = any("process" not in node.runners for node in states)
        board.words.memo["choosy"] = (states, found)
    return bool(found)


def _hosts(board: Board, work: Waiting, node: Ints, *, together: bool) -> Sieve:
    """The filters of the cards' nodes; `together` as one, for who asks only what is left."""
    hosts = host_sieve(board, work, least_parts_a_node(work.need))
    if together:
        hosts = iter([(Reason.CPU, _all_of(hosts))])
    for reason, fine in hosts:
        yield reason, fine[node]


def _all_of(sieved: Sieve) -> Flags:
    """What passes every one of these filters; there is at least one."""
    fine = next(sieved)[1]
    for _, flags in sieved:
        fine &= flags
    return fine


def _licence(board: Board, work: Waiting, partition: int, mode: Mode, rows: Ints) -> Sieve:
    if seats_left(board, work, partition, mode) < work.need.parts:
        yield Reason.LICENCE, np.zeros(len(rows), dtype=np.bool_)


def _quota(board: Board, work: Waiting, partition: int, grants: Grants) -> Flags:
    """By kind: whether the start stays under every limit, host units included."""
    if not host_quota_ok(board, work, partition):
        return np.zeros(len(board.kinds), dtype=np.bool_)
    micro = grants.micro * work.need.parts
    left = [card_room(board, work, partition, kind.label) for kind in board.kinds]
    return micro <= np.array(left, dtype=np.int64)


def host_quota_ok(board: Board, work: Waiting, partition: int) -> bool:
    """Whether the work's CPU, memory and disk stay under every limit."""
    need = work.need
    asked = {
        Unit.CPU_MILLI: need.cpu_milli,
        Unit.MEMORY_MIB: need.host_memory_mib,
        Unit.DISK_MIB: need.disk_mib,
    }
    room = host_room(board, work, partition)
    return all(asked[unit] <= left for unit, left in room.items())


def host_only_sieve(board: Board, work: Waiting, partition: int) -> Sieve:
    """Filter by filter, which nodes could take work that needs no card."""
    nodes = board.nodes
    here = [n.partition in (None, partition) for n in nodes.states]
    yield Reason.ACCESS, np.array(here, dtype=np.bool_)
    yield Reason.HEALTH, nodes.offered
    if work.avoid:
        yield Reason.NODE_FAILED_IT, ~_named(board, work.avoid)
    yield Reason.ISOLATION, nodes_may_share(board, work)
    yield from host_sieve(board, work, 1)
    fine = host_quota_ok(board, work, partition)
    yield Reason.QUOTA, np.full(len(nodes.states), fine, dtype=np.bool_)


def modes_offered(board: Board, work: Waiting, partition: int) -> tuple[Mode, ...]:
    """The work's modes, without those that no card of the partition has."""
    modes = modes_for(work)
    offered: set[Mode] | None = board.words.memo.get(("modes", partition))
    if offered is None:
        offered = {m for kind in board.kinds if kind.partition == partition for m in kind.modes}
        board.words.memo["modes", partition] = offered
    return tuple(m for m in modes if m in offered) or modes[:1]
