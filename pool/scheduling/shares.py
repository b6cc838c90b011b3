"""Shares of a card: the MIG place or soft share that leaves most for later work."""

from collections.abc import Sequence

import numpy as np

from nodeagent.protocol.vocabulary import Mode
from pool.carving.sizes import profile_micro
from pool.scheduling.board import Board, Ints
from pool.scheduling.fit import Grants
from pool.scheduling.grant import Grant
from pool.scheduling.model import Policy, Rules, Topology, Waiting
from pool.scheduling.parts import Cutting, mig_cutting, soft_cutting
from pool.scheduling.score import fragments, share_deltas
from pool.scheduling.take import clear, give
from pool.scheduling.trial import Trial, trial_at

NOWHERE = np.int64(1 << 40)
Room = tuple[int, ...]
"""The quota left on each kind of card, in millionths of a card."""


def heavy(work: Waiting, rules: Rules) -> bool:
    """Heavy work prefers strong cards, light work weak ones."""
    need = work.need
    return need.whole or (need.memory_gb or 0) >= rules.heavy_gb


def pick_share(
    board: Board, work: Waiting, rows: Ints, grants: Grants, mode: Mode, policy: Policy, room: Room
) -> Cutting | None:
    """One part on the best of these cards, or None. `room` is the quota left for one part."""
    if not len(rows):
        return None
    if mode is Mode.MIG:
        return _mig(board, work, rows, grants, policy, room)
    row = int(rows[_soft_order(board, work, rows, grants, mode, policy)[0]])
    granted = grants.by_kind[board.cards.kind[row]]
    return soft_cutting(board, row, granted) if isinstance(granted, Grant) else None


def _strength(board: Board, work: Waiting, rows: Ints) -> Ints:
    strength = np.array([kind.strength for kind in board.kinds], dtype=np.int64)
    mine = strength[board.cards.kind[rows]]
    return -mine if heavy(work, board.snapshot.rules) else mine


def _soft_order(
    board: Board, work: Waiting, rows: Ints, grants: Grants, mode: Mode, policy: Policy
) -> Ints:
    """Cards in use before untouched ones, then the tightest; the other way round for spread."""
    cards = board.cards
    kind = cards.kind[rows]
    left = np.maximum(
        cards.compute[rows] - grants.compute[kind],
        (cards.memory[rows] - grants.memory[kind]) * 1000 // np.maximum(1, cards.memory[rows]),
    )
    untouched = (cards.count[rows] == 0).astype(np.int64)
    if policy is Policy.SPREAD:
        untouched, left = -untouched, -left
    strength = _strength(board, work, rows)
    table = fragments(board) if policy is Policy.FRAGMENTATION else None
    if table is not None:
        waste = share_deltas(board, table, work, rows, grants, mode)
        return np.lexsort((rows, left, waste, strength))
    return np.lexsort((rows, left, untouched, grants.micro[kind], strength))


def _mig(
    board: Board, work: Waiting, rows: Ints, grants: Grants, policy: Policy, room: Room
) -> Cutting | None:
    """Least given, then reuse before cutting before re-carving, then the least loss of room."""
    cards = board.cards
    kind, layout = cards.kind[rows], cards.layout[rows]
    width = len(board.words.layouts) + 1
    keys, where = np.unique(kind * width + layout, return_inverse=True)
    trials = [trial_at(board, int(k) // width, int(k) % width, grants.by_kind) for k in keys]
    table = np.array(
        [_scores(board, int(k) // width, t, room) for k, t in zip(keys, trials, strict=True)],
        dtype=np.int64,
    )[where]
    untouched = (cards.held[rows] == 0).astype(np.int64)
    if policy is Policy.SPREAD:
        untouched = -untouched
    entry = cards.entry[rows] + table[:, 2]
    order = np.lexsort(
        (
            rows,
            entry,
            table[:, 3],
            untouched,
            table[:, 1],
            table[:, 0],
            _strength(board, work, rows),
        )
    )
    best = int(order[0])
    trial = trials[where[best]]
    if trial is None or table[best, 0] >= NOWHERE:
        return None
    return mig_cutting(board, int(rows[best]), trial)


def _scores(board: Board, kind: int, trial: Trial | None, room: Room) -> tuple[int, int, int, int]:
    """What is given, whether slices must go first, how many, and the loss in millionths."""
    geometry = board.kinds[kind].geometry(Mode.MIG)
    if trial is None or geometry is None:
        return (int(NOWHERE), 0, 0, 0)
    micro = profile_micro(geometry, geometry.profiles[trial.profile])
    if micro > room[kind]:
        return (int(NOWHERE), 0, 0, 0)
    removed = len(trial.answer.removed)
    made = len(trial.answer.added)
    return (micro, int(removed > 0), removed + made, round(trial.loss * 1_000_000))


def pick_shares(
    board: Board, work: Waiting, rows: Ints, grants: Grants, mode: Mode, policy: Policy, room: Room
) -> tuple[Cutting, ...] | None:
    """Every part of the work: on one node, or each on another node when it is to be spread."""
    parts = work.need.parts
    if parts == 1:
        cutting = pick_share(board, work, rows, grants, mode, policy, room)
        return None if cutting is None else (cutting,)
    if work.need.topology in (Topology.LINKED, Topology.WHOLE_NODES) and mode is Mode.MIG:
        return None
    if work.need.topology is Topology.SPREAD:
        return _apart(
            board, work, rows, grants, mode, policy, tuple(left // parts for left in room)
        )
    for node in np.unique(board.cards.node[rows]).tolist():
        mine = rows[board.cards.node[rows] == node]
        found = _together(
            board, work, mine, grants, mode, policy, tuple(left // parts for left in room)
        )
        if found is not None:
            return found
    return None


def _apart(
    board: Board, work: Waiting, rows: Ints, grants: Grants, mode: Mode, policy: Policy, room: Room
) -> tuple[Cutting, ...] | None:
    found: list[Cutting] = []
    left = rows
    while len(found) < work.need.parts:
        cutting = pick_share(board, work, left, grants, mode, policy, room)
        if cutting is None:
            return None
        found.append(cutting)
        node = board.cards.node[board.cards.index[cutting.part.card]]
        left = left[board.cards.node[left] != node]
    return tuple(found)


def _together(
    board: Board, work: Waiting, rows: Ints, grants: Grants, mode: Mode, policy: Policy, room: Room
) -> tuple[Cutting, ...] | None:
    """Part after part on one node's cards, tried on the board and taken back."""
    saved = {row: board.lift(row) for row in rows.tolist()}
    found: list[Cutting] = []
    try:
        for _ in range(work.need.parts):
            open_rows = rows[_still_open(board, rows.tolist(), grants, mode)]
            cutting = pick_share(board, work, open_rows, grants, mode, policy, room)
            if cutting is None:
                return None
            if cutting.move is not None:
                clear(board, cutting.move)
            give(board, cutting.part, work)
            found.append(cutting)
    finally:
        for row, was in saved.items():
            board.put_back(row, was)
    return tuple(found)


def _still_open(board: Board, rows: Sequence[int], grants: Grants, mode: Mode) -> list[int]:
    """Positions of the cards that still have room for one more part."""
    cards = board.cards
    found = []
    for i, row in enumerate(rows):
        kind = int(cards.kind[row])
        if mode is Mode.MIG:
            fine = trial_at(board, kind, int(cards.layout[row]), grants.by_kind) is not None
        else:
            fine = bool(
                cards.memory[row] >= grants.memory[kind]
                and cards.compute[row] >= grants.compute[kind]
            )
        if fine:
            found.append(i)
    return found
