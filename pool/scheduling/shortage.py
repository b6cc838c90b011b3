"""The exact shortage: what was asked, and what the best candidate had."""

from collections.abc import Sequence

import numpy as np

from nodeagent.protocol.inventory import Profile
from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.board import Board, Flags, Ints
from pool.scheduling.fit import Grants, host_share, least_parts_a_node
from pool.scheduling.grant import Grant
from pool.scheduling.model import Reason, Shortage, Waiting
from pool.scheduling.quota import card_room
from pool.scheduling.stock import NEVER, Layout
from pool.scheduling.words import NO_LAYOUT

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

    Worked out once for all work of one shape while the board stays as it is. None where places are
    not what lacks: a profile is at its most.
    """
    key = ("places", partition, grants.by_kind)
    fell = (board.words.ticks, np.packbits(last).tobytes())
    cards, when, found = board.words.memo.get(key, (None, None, None))
    if cards is not board.cards or when != fell:
        found = _fewest_lack(board, grants.by_kind, board.rows[partition][last])
        board.words.memo[key] = (board.cards, fell, found)
    told: Shortage | None = found
    return told


def _fewest_lack(board: Board, by_kind: Sequence[Grant | Reason], rows: Ints) -> Shortage | None:
    """The card at these rows with most free places; each layout of a kind is looked at once."""
    width = len(board.words.layouts) + 1
    keys = board.cards.kind[rows] * width + (board.cards.layout[rows] - NO_LAYOUT)
    best, at = (-1, 0), list[int]()
    for key in np.flatnonzero(np.bincount(keys)).tolist():
        score = _free(board, by_kind, key // width, key % width + NO_LAYOUT)
        if score is None:
            continue
        if score[0] >= score[1]:
            return None
        if score >= best:
            at = [*at, key] if score == best else [key]
            best = score
    if not at:
        return None
    first = rows[np.argmax(np.isin(keys, at))]
    node = board.nodes.states[board.cards.node[first]]
    return Shortage(unit="places", needed=best[1], free=best[0], where=node.name)


def _free(
    board: Board, by_kind: Sequence[Grant | Reason], kind: int, layout: int
) -> tuple[int, int] | None:
    """Of how many places one such slice is, after how many of them are free on such a card.

    None where the kind is not granted; a card that is held in another mode has none free.
    """
    granted, geometry = by_kind[kind], board.kinds[kind].geometry(Mode.MIG)
    if not isinstance(granted, Grant) or granted.mode is not Mode.MIG or geometry is None:
        return None
    profile = geometry.profiles[granted.profiles[0]]
    if layout == NO_LAYOUT:
        return (0, profile.size)
    key = ("free", kind, layout, granted.profiles[0])
    if key not in board.words.memo:
        board.words.memo[key] = most_free(profile, board.words.layouts[layout])
    return int(board.words.memo[key]), profile.size


def most_free(profile: Profile, layout: Layout) -> int:
    """The most places that are free inside one legal place of the profile."""
    spans = ((start, size) for _, start, size, fixed, _ in layout if fixed)
    taken = frozenset(at for start, size in spans for at in range(start, start + size))
    return max(
        sum(at not in taken for at in range(start, start + profile.size))
        for start in profile.starts
    )
