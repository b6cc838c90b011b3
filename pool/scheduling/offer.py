"""The best place for one workload on the board as it is, or nothing."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.board import Board, Flags, Ints
from pool.scheduling.calendar import nodes_kept_away, others_cards
from pool.scheduling.fit import (
    Grants,
    grants_for,
    hopeful,
    host_only_sieve,
    host_share,
    modes_offered,
    sieve,
)
from pool.scheduling.model import (
    HostPart,
    Part,
    Placed,
    Policy,
    PriorityClass,
    Reason,
    SliceStage,
    Topology,
    Waiting,
)
from pool.scheduling.parts import Cutting, whole_cutting
from pool.scheduling.quota import card_room, is_borrowed
from pool.scheduling.score import fragments, node_deltas
from pool.scheduling.shares import Hunt, pick_shares
from pool.scheduling.whole import apart, pick_whole


def offer(board: Board, work: Waiting) -> Placed | None:
    """Where the work would start now: its partitions in order, its modes in order."""
    for partition in work.partitions:
        if not may_use(board, work, partition):
            continue
        placed = (
            _cards(board, work, partition)
            if work.need.parts
            else _host_only(board, work, partition)
        )
        if placed is not None and _carves_twice(board, work, placed):
            placed = _cards(board, work, partition, within=_kept(board, work))
        if placed is None or forbidden_loan(work, placed) or _carves_twice(board, work, placed):
            continue
        return placed
    return None


def has_room(board: Board, work: Waiting) -> int | None:
    """In which partition `offer` would find a place; without looking for the best one there.

    Which place is taken decides where nothing else would do: for critical work, several shares,
    and work that has room promised. There the place itself is looked for.
    """
    promised = any(promise.workload == work.id for promise in board.snapshot.promises)
    several = work.need.parts != 1 and not work.need.whole
    if several or promised or work.priority_class is PriorityClass.CRITICAL:
        placed = offer(board, work)
        return None if placed is None else placed.partition
    for partition in work.partitions:
        if may_use(board, work, partition) and _cuttings(board, work, partition, Policy.BINPACK):
            return partition
    return None


def _carves_twice(board: Board, work: Waiting, placed: Placed) -> bool:
    """Work that room is being made for takes no other card apart meanwhile.

    Of a card that is kept for it, it may remove what those who left for it have left there, once
    nothing is on its way out any more.
    """
    now = board.snapshot.now_s
    if not any(p.workload == work.id and p.until_s > now for p in board.snapshot.promises):
        return False
    kept = _kept(board, work)
    return any(
        move.removes and (move.card not in kept or _going(board, move.card))
        for move in placed.moves
    )


def _kept(board: Board, work: Waiting) -> frozenset[int]:
    """The cards of which room is promised to the work."""
    now = board.snapshot.now_s
    mine = (p for p in board.snapshot.promises if p.workload == work.id and p.until_s > now)
    return frozenset(card for promise in mine for card in promise.cards)


def _going(board: Board, card: int) -> bool:
    """Whether some slice of the card is on its way out."""
    pieces = board.cards.pieces[board.cards.index[card]]
    return any(piece.stage is SliceStage.GOING for piece in pieces)


def may_use(board: Board, work: Waiting, partition: int) -> bool:
    """Whether the partition exists, has cards, and is open to one of the work's tenants."""
    state = board.parts.get(partition)
    closed = state is not None and state.open_to is not None
    if state is not None and closed and not (state.open_to or frozenset()) & set(work.tenants):
        return False
    return partition in board.rows or not work.need.parts


def forbidden_loan(work: Waiting, placed: Placed) -> bool:
    """Critical work never runs on borrowed cards (requirement S1)."""
    return placed.borrowed and work.priority_class is PriorityClass.CRITICAL


def passing(sieved: Iterable[tuple[Reason, Flags]], size: int) -> Flags:
    """What is left after every filter."""
    fine = np.ones(size, dtype=np.bool_)
    for _, flags in sieved:
        fine &= flags
    return fine


def _cards(
    board: Board, work: Waiting, partition: int, within: frozenset[int] | None = None
) -> Placed | None:
    state = board.parts.get(partition)
    policy = state.policy_for(work.purpose) if state else Policy.FRAGMENTATION
    cuttings = _cuttings(board, work, partition, policy, within)
    return _placed(board, work, partition, cuttings) if cuttings else None


def _cuttings(
    board: Board,
    work: Waiting,
    partition: int,
    policy: Policy,
    within: frozenset[int] | None = None,
) -> tuple[Cutting, ...] | None:
    """What is cut for it in the first mode that has a place, of these cards if any are named."""
    for mode in modes_offered(board, work, partition):
        grants = grants_for(board, work, partition, mode)
        rows = hopeful(board, mode, grants, board.open_rows(partition))
        if within is not None:
            rows = rows[np.isin(board.cards.ids[rows], sorted(within))]
        sieved = sieve(board, work, partition, mode, grants, rows, hopeful=True)
        fine = passing(sieved, len(rows))
        for some in apart(board, work, rows[fine]) if work.endpoint else (rows[fine],):
            cuttings = _pick(board, work, partition, some, grants, mode, policy)
            if cuttings:
                return cuttings
    return None


def _pick(
    board: Board,
    work: Waiting,
    partition: int,
    rows: Ints,
    grants: Grants,
    mode: Mode,
    policy: Policy,
) -> tuple[Cutting, ...] | None:
    if not len(rows):
        return None
    if mode is Mode.WHOLE:
        chosen = pick_whole(board, work, rows, policy)
        return None if chosen is None else tuple(whole_cutting(board, row) for row in chosen)
    room = tuple(card_room(board, work, partition, kind.label) for kind in board.kinds)
    return pick_shares(board, Hunt(work, partition, grants, mode, policy, room), rows)


def _placed(board: Board, work: Waiting, partition: int, cuttings: Sequence[Cutting]) -> Placed:
    parts = tuple(cutting.part for cutting in cuttings)
    nodes = Counter(int(board.cards.node[board.cards.index[part.card]]) for part in parts)
    return Placed(
        workload=work.id,
        partition=partition,
        parts=parts,
        hosts=tuple(_host(board, work, node, count) for node, count in sorted(nodes.items())),
        moves=tuple(c.move for c in cuttings if c.move is not None),
        card_micro=sum(part.card_micro for part in parts),
        borrowed=borrows(board, work, partition, parts),
    )


def borrows(board: Board, work: Waiting, partition: int, parts: Sequence[Part]) -> bool:
    """Whether these parts go beyond what is granted, as things stand on this board, or are lent."""
    labels: dict[str, int] = {}
    for part in parts:
        label = board.kinds[board.cards.kind[board.cards.index[part.card]]].label
        labels[label] = labels.get(label, 0) + part.card_micro
    return _lent(board, work, parts) or any(
        is_borrowed(board, work, partition, label, micro) for label, micro in labels.items()
    )


def _lent(board: Board, work: Waiting, parts: Sequence[Part]) -> bool:
    """Whether a card is kept for somebody else, who lends it until it is needed."""
    if not board.snapshot.reservations:
        return False
    lent = others_cards(board, work, lent=True)
    return any(part.card in lent for part in parts)


def _host(board: Board, work: Waiting, node: int, parts: int) -> HostPart:
    """The host share of one node; work that takes whole nodes takes all that is free there."""
    share = host_share(work.need, parts)
    cpu, memory, disk = share.cpu_milli, share.memory_mib, share.disk_mib
    if work.need.topology is Topology.WHOLE_NODES:
        nodes = board.nodes
        cpu, memory = int(nodes.cpu[node]), int(nodes.memory[node])
        disk = int(nodes.disk[node])
    return HostPart(
        node=board.nodes.states[node].id, cpu_milli=cpu, memory_mib=memory, disk_mib=disk
    )


def _host_only(board: Board, work: Waiting, partition: int) -> Placed | None:
    """CPU-only work: nodes without cards first, then the fullest that has the room."""
    nodes = board.nodes
    fine = passing(host_only_sieve(board, work, partition), len(nodes.states))
    fine &= nodes_kept_away(board, work)
    if not fine.any():
        return None
    rows = np.flatnonzero(fine)
    cards = np.bincount(board.cards.node, minlength=len(nodes.states))[rows]
    waste = np.zeros(len(rows))
    table = fragments(board)
    if table is not None:
        waste = node_deltas(board, table, work, rows, np.zeros(len(rows), dtype=np.int64))
        cards = (cards > 0).astype(np.int64)
    node = int(rows[np.lexsort((rows, nodes.memory[rows], nodes.cpu[rows], waste, cards))[0]])
    return Placed(
        workload=work.id, partition=partition, parts=(), hosts=(_host(board, work, node, 0),)
    )
