"""The exact shortage: what was asked, and what the best candidate had."""

import numpy as np

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.board import Board, Flags
from pool.scheduling.fit import Grants, host_share, least_parts_a_node
from pool.scheduling.grant import Grant
from pool.scheduling.model import Reason, Shortage, Waiting
from pool.scheduling.quota import card_room
from pool.scheduling.stock import NEVER, idle

HOST = frozenset({Reason.CPU, Reason.HOST_MEMORY, Reason.DISK})
"""What a node gives beside its cards."""

SOFT = {
    Reason.MEMORY: "memory_mib",
    Reason.COMPUTE: "compute_milli",
    Reason.ENCODER: "encoder_units",
    Reason.DECODER: "decoder_units",
}
"""What soft shares divide among them, in the words of a grant."""


def shortage_of(
    board: Board,
    work: Waiting,
    grants: Grants | None,
    last: Flags,
    reason: Reason,
    partition: int,
) -> Shortage | None:
    """What was short where the last candidates fell; None when no number says it."""
    if reason in HOST:
        return _host(board, work, last, reason, partition, grants)
    if grants is None:
        return None
    if reason is Reason.QUOTA:
        return _quota(board, work, grants, partition)
    if work.need.whole and reason in (Reason.MEMORY, Reason.TOPOLOGY):
        return _cards(board, work, grants, partition)
    if reason is Reason.LAYOUT:
        return _places(board, grants, last, partition)
    if reason in SOFT:
        return _soft(board, grants, last, reason, partition)
    return None


def cards_first(board: Board, work: Waiting, grants: Grants | None, partition: int) -> bool:
    """Whether a node's cards are too few as well, where its CPU, RAM or disk is.

    What a node gives beside its cards is gone with them: the cards are what there is to say.
    """
    if grants is None or not work.need.whole or least_parts_a_node(work.need) < 2:
        return False
    short = _cards(board, work, grants, partition)
    return short is not None and short.free < least_parts_a_node(work.need)


def _host(
    board: Board,
    work: Waiting,
    last: Flags,
    reason: Reason,
    partition: int,
    grants: Grants | None,
) -> Shortage | None:
    share = host_share(work.need, least_parts_a_node(work.need))
    unit, needed, free = {
        Reason.CPU: ("cpu_milli", share.cpu_milli, board.nodes.cpu),
        Reason.HOST_MEMORY: ("memory_mib", share.memory_mib, board.nodes.memory),
        Reason.DISK: ("disk_mib", share.disk_mib, board.nodes.disk),
    }[reason]
    nodes = np.flatnonzero(last)
    if grants is not None:
        nodes = np.unique(board.cards.node[board.rows[partition][last]])
    if not len(nodes):
        return None
    best = int(nodes[np.argmax(free[nodes])])
    return Shortage(
        unit=unit, needed=needed, free=int(free[best]), where=board.nodes.states[best].name
    )


def _quota(board: Board, work: Waiting, grants: Grants, partition: int) -> Shortage | None:
    found = [
        (card_room(board, work, partition, kind.label), granted.card_micro, kind.label)
        for kind, granted in zip(board.kinds, grants.by_kind, strict=True)
        if isinstance(granted, Grant) and kind.partition == partition
    ]
    if not found:
        return None
    room, micro, label = max(found)
    needed = micro * work.need.parts
    return Shortage(unit="card_micro", needed=needed, free=max(0, room), where=label)


def _cards(board: Board, work: Waiting, grants: Grants, partition: int) -> Shortage | None:
    """Whole cards of one kind free on the node that has most of them."""
    rows = board.rows[partition]
    fits = np.array([isinstance(g, Grant) for g in grants.by_kind], dtype=np.bool_)
    cards, nodes = board.cards, board.nodes
    fine = fits[cards.kind[rows]] & (cards.whole[rows] != NEVER) & cards.offered[rows]
    fine &= nodes.offered[cards.node[rows]]
    width = len(board.kinds)
    cells = cards.node[rows][fine] * width + cards.kind[rows][fine]
    counts = np.bincount(cells, minlength=len(nodes.states) * width)
    best = int(np.argmax(counts))
    where = nodes.states[best // width].name if counts[best] else ""
    return Shortage(unit="cards", needed=work.need.parts, free=int(counts[best]), where=where)


def _soft(
    board: Board, grants: Grants, last: Flags, reason: Reason, partition: int
) -> Shortage | None:
    rows = board.rows[partition][last]
    granted = [g for g in grants.by_kind if isinstance(g, Grant)]
    if not len(rows) or not granted or granted[0].mode in (Mode.MIG, Mode.WHOLE):
        return None
    cards = board.cards
    column = {
        Reason.MEMORY: cards.memory,
        Reason.COMPUTE: cards.compute,
        Reason.ENCODER: cards.encoders,
        Reason.DECODER: cards.decoders,
    }[reason]
    free = column[rows]
    best = int(np.argmax(free))
    mine = grants.by_kind[cards.kind[rows[best]]]
    needed = getattr(mine, SOFT[reason], 0)
    node = board.nodes.states[board.cards.node[rows[best]]]
    return Shortage(
        unit=SOFT[reason],
        needed=int(needed),
        free=int(free[best]),
        where=node.name,
    )


def _places(board: Board, grants: Grants, last: Flags, partition: int) -> Shortage | None:
    """Free places inside the best legal one of a MIG slice; idle slices count as free.

    None where places are not what lacks: then a profile is at its most, or a card is not cut so.
    """
    best: tuple[int, int, int] | None = None
    for row in board.rows[partition][last].tolist():
        kind = board.kinds[board.cards.kind[row]]
        granted, geometry = grants.by_kind[board.cards.kind[row]], kind.geometry(Mode.MIG)
        if not isinstance(granted, Grant) or granted.mode is not Mode.MIG or geometry is None:
            continue
        profile = geometry.profiles[granted.profiles[0]]
        taken = _taken(board, row)
        free = max(
            sum(at not in taken for at in range(start, start + profile.size))
            for start in profile.starts
        )
        best = max(best or (-1, 0, 0), (free, profile.size, -row))
    if best is None or best[0] >= best[1]:
        return None
    node = board.nodes.states[board.cards.node[-best[2]]]
    return Shortage(unit="places", needed=best[1], free=best[0], where=node.name)


def _taken(board: Board, row: int) -> frozenset[int]:
    """The places of the card at this row that nothing idle lies on."""
    staying = (p for p in board.cards.pieces[row] if not idle(p))
    spans = ((p.start or 0, p.size or 0) for p in staying)
    return frozenset(at for start, size in spans for at in range(start, start + size))
