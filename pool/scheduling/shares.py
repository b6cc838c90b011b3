"""Shares of a card: the MIG place or soft share that leaves most for later work."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nodeagent.protocol.vocabulary import Mode
from pool.carving.sizes import FULL, profile_compute_milli, profile_micro
from pool.scheduling.board import Board, Ints
from pool.scheduling.fit import Grants, ceiling_room, soft_there
from pool.scheduling.grant import Grant
from pool.scheduling.isolation import calm
from pool.scheduling.kinds import CardKind
from pool.scheduling.model import Policy, Topology, Waiting
from pool.scheduling.parts import Cutting, mig_cutting, soft_cutting
from pool.scheduling.score import fragments, share_deltas
from pool.scheduling.take import clear, give
from pool.scheduling.trial import Trial, behind_of, places_left, trial_at, weights_of
from pool.scheduling.words import Sort

SIZE = 1
"""Where the size of what is given stands in a merit."""

NOWHERE = 1 << 40
"""The size of what does not fit: larger than anything that does."""

MODE_MOVE = 1
"""Of the moves that it takes to enter a mode, the change itself; all others remove a slice."""

RARE = 0.3
"""How much a place counts for being rare in the partition, beside the worth of its layout."""

MOST_SORTS = 1 << 16
"""Up to so many possible codes, a table of them is quicker than sorting the cards."""


@dataclass(frozen=True, slots=True)
class Hunt:
    """What is looked for: shares for one workload, in one partition and mode.

    `room` is the quota left for one part on each kind of card, in millionths of a card.
    """

    work: Waiting
    partition: int
    grants: Grants
    mode: Mode
    policy: Policy
    room: tuple[int, ...]


def heavy(board: Board, work: Waiting, grants: Grants) -> bool:
    """Heavy work prefers strong cards, light work weak ones.

    Heavy are whole cards, several at once, and much memory, in whatever words it was asked for:
    what counts is the least that some card would give, in nominal GB.
    """
    if work.need.whole or work.need.parts > 1:
        return True
    given = zip(board.kinds, grants.by_kind, strict=True)
    sizes = [_given_gb(kind, one) for kind, one in given if isinstance(one, Grant)]
    return bool(sizes) and min(sizes) >= board.snapshot.rules.heavy_gb


def _given_gb(kind: CardKind, granted: Grant) -> float:
    """The nominal size of a grant on a kind of card, in GB."""
    geometry = kind.geometry(granted.mode)
    if geometry is not None and granted.profiles:
        return geometry.profiles[granted.profiles[0]].nominal_gb
    return granted.memory_mib * kind.size.nominal_gb / kind.size.memory_mib


def pick_shares(board: Board, hunt: Hunt, rows: Ints) -> tuple[Cutting, ...] | None:
    """Every part of the work: on one node, or each on another node when it is to be spread."""
    need = hunt.work.need
    if need.parts == 1:
        cutting = pick_share(board, hunt, rows)
        return None if cutting is None else (cutting,)
    if need.topology in (Topology.LINKED, Topology.WHOLE_NODES) and hunt.mode is Mode.MIG:
        return None
    hunt = replace(hunt, room=tuple(left // need.parts for left in hunt.room))
    if need.topology is Topology.SPREAD:
        return _apart(board, hunt, rows)
    for node in np.unique(board.cards.node[rows]).tolist():
        found = _together(board, hunt, rows[board.cards.node[rows] == node])
        if found is not None:
            return found
    return None


def pick_share(board: Board, hunt: Hunt, rows: Ints) -> Cutting | None:
    """One part on the best of these cards, or None."""
    if not len(rows):
        return None
    if hunt.mode is Mode.MIG:
        return _mig(board, hunt, rows)
    row = int(rows[_soft_order(board, hunt, rows)[0]])
    granted = hunt.grants.by_kind[board.cards.kind[row]]
    return soft_cutting(board, row, granted) if isinstance(granted, Grant) else None


def _dearness(board: Board, hunt: Hunt, rows: Ints, micro: Ints) -> Ints:
    """Heavy work: strong cards first. Light work: what takes least of a card's strength."""
    strength = np.array([kind.strength for kind in board.kinds], dtype=np.int64)
    mine = strength[board.cards.kind[rows]]
    return -mine if heavy(board, hunt.work, hunt.grants) else np.maximum(mine, 1) * micro


def _soft_order(board: Board, hunt: Hunt, rows: Ints) -> Ints:
    """Least made useless, where the demand is known; else cards in use first, then the tightest."""
    cards, grants = board.cards, hunt.grants
    kind = cards.kind[rows]
    left = np.maximum(
        cards.compute[rows] - grants.compute[kind],
        (cards.memory[rows] - grants.memory[kind]) * 1000 // np.maximum(1, cards.memory[rows]),
    )
    dearness = _dearness(board, hunt, rows, grants.micro[kind])
    table = fragments(board) if hunt.policy is Policy.FRAGMENTATION else None
    if table is not None:
        waste = share_deltas(board, table, hunt.work, rows, grants, hunt.mode)
        return np.lexsort((rows, left, waste, dearness))
    untouched = (cards.count[rows] == 0).astype(np.int64)
    if hunt.policy is Policy.SPREAD:
        untouched, left = -untouched, -left
    return np.lexsort((rows, left, untouched, grants.micro[kind], dearness))


def _mig(board: Board, hunt: Hunt, rows: Ints) -> Cutting | None:
    """Least given, then the fewest slices to remove, then the least loss of worth.

    Cards of one sort with as much room under the ceilings are alike: each is judged once, by its
    lowest row.
    """
    sorts = board.cards.sort[rows]
    left = ceiling_room(board, hunt.work, hunt.partition, rows)
    first = _firsts(sorts if left is None else sorts * (FULL + 1) + np.maximum(left, 0))
    met = [board.words.sorts[code] for code in sorts[first].tolist()]
    kinds = sorted({sort.kind for sort in met})
    behind = {kind: behind_of(board, kind, hunt.work) for kind in kinds if _cut(board, kind)}
    rooms: dict[int, Sequence[int]] = {}
    stays = hunt.work.declared_s is None
    if stays:
        rooms = {kind: places_left(board, hunt.partition, kind) for kind in kinds}
    best: tuple[tuple[int, ...], Trial] | None = None
    for at, sort in zip(first.tolist(), met, strict=True):
        layout, next_ones = sort.layout, behind.get(sort.kind, ())
        trial = trial_at(board, sort.kind, layout, hunt.grants.by_kind, next_ones, stays=stays)
        if trial is None:
            continue
        room = FULL if left is None else int(left[at])
        merit = _merit(board, hunt, sort, trial, rooms.get(sort.kind), room)
        key = (*merit, int(rows[at]))
        if merit[SIZE] < NOWHERE and (best is None or key < best[0]):
            best = (key, trial)
    return None if best is None else mig_cutting(board, best[0][-1], best[1])


def _cut(board: Board, kind: int) -> bool:
    return board.kinds[kind].geometry(Mode.MIG) is not None


def _merit(
    board: Board,
    hunt: Hunt,
    sort: Sort,
    trial: Trial,
    room: Sequence[int] | None,
    left: int,
) -> tuple[int, ...]:
    """What counts when a card is chosen, less is better; `left` is what ceilings leave of it."""
    micro, removed, made, loss, compute = _scores(board, hunt, sort.kind, trial, room)
    size = micro if compute <= left else NOWHERE
    strength = board.kinds[sort.kind].strength
    strong = heavy(board, hunt.work, hunt.grants)
    dearness = -strength if strong else max(strength, 1) * size
    fresh = int(sort.untouched) + (sort.entry > 0)
    removed += max(0, sort.entry - MODE_MOVE)
    if hunt.policy is Policy.SPREAD:
        fresh = -fresh
    return (dearness, size, removed, fresh, loss, sort.entry + made)


def _firsts(codes: Ints) -> Ints:
    """Where each different code is met first."""
    top = int(codes.max(initial=0)) + 1
    if top > MOST_SORTS:
        found: Ints = np.unique(codes, return_index=True)[1]
        return found
    met = np.full(top, -1, dtype=np.int64)
    met[codes[::-1]] = np.arange(len(codes))[::-1]
    return met[met >= 0]


def _scores(
    board: Board, hunt: Hunt, kind: int, trial: Trial, room: Sequence[int] | None
) -> tuple[int, int, int, int, int]:
    """What is given, how many slices must go first, moves, loss in millionths, and compute.

    What stays for good loses as well by taking places of which the partition has few.
    """
    geometry = board.kinds[kind].geometry(Mode.MIG)
    if geometry is None:
        return (NOWHERE, 0, 0, 0, 0)
    profile = geometry.profiles[trial.profile]
    micro = profile_micro(geometry, profile)
    if micro > hunt.room[kind]:
        return (NOWHERE, 0, 0, 0, 0)
    removed, made = len(trial.answer.removed), len(trial.answer.added)
    loss = round((trial.loss + rarity(board, kind, trial, room)) * 1_000_000)
    compute = profile_compute_milli(geometry, profile)
    return (micro, removed, removed + made, loss, compute)


def rarity(board: Board, kind: int, trial: Trial, room: Sequence[int] | None) -> float:
    """How much rarer the places become that are asked for; `room` is how many there are now."""
    if room is None:
        return 0.0
    shares = weights_of(board, kind, stays=True).shares
    return RARE * sum(
        share * math.log((1.0 + have) / (1.0 + max(0, have - gone)))
        for share, have, gone in zip(shares, room, trial.taken, strict=True)
        if share and gone > 0
    )


def _apart(board: Board, hunt: Hunt, rows: Ints) -> tuple[Cutting, ...] | None:
    found: list[Cutting] = []
    left = rows
    while len(found) < hunt.work.need.parts:
        cutting = pick_share(board, hunt, left)
        if cutting is None:
            return None
        found.append(cutting)
        node = board.cards.node[board.cards.index[cutting.part.card]]
        left = left[board.cards.node[left] != node]
    return tuple(found)


def _together(board: Board, hunt: Hunt, rows: Ints) -> tuple[Cutting, ...] | None:
    """Part after part on one node's cards, tried on the board and taken back."""
    saved = {row: board.lift(row) for row in rows.tolist()}
    found: list[Cutting] = []
    try:
        for _ in range(hunt.work.need.parts):
            cutting = pick_share(board, hunt, rows[_still_open(board, hunt, rows)])
            if cutting is None:
                return None
            if cutting.move is not None:
                clear(board, cutting.move)
            give(board, cutting.part, hunt.work)
            found.append(cutting)
    finally:
        for row, was in saved.items():
            board.put_back(row, was)
    return tuple(found)


def _still_open(board: Board, hunt: Hunt, rows: Ints) -> Sequence[int]:
    """Positions of the cards that still have room for one more part."""
    cards, grants, need = board.cards, hunt.grants, hunt.work.need
    ceilings = ceiling_room(board, hunt.work, hunt.partition, rows)
    there = soft_there(board, rows, grants)
    calm_here = calm(board, hunt.mode, rows) if need.heavy_bandwidth else None
    found = []
    for i, row in enumerate(rows.tolist()):
        kind = int(cards.kind[row])
        if hunt.mode is Mode.MIG:
            fine = trial_at(board, kind, int(cards.layout[row]), grants.by_kind) is not None
        else:
            fine = bool(
                there[i]
                or cards.memory[row] >= grants.memory[kind]
                and cards.compute[row] >= grants.compute[kind]
                and cards.encoders[row] >= need.encoder_units
                and cards.decoders[row] >= need.decoder_units
            )
        if calm_here is not None:
            fine = fine and bool(calm_here[i])
        if fine and (ceilings is None or grants.compute[kind] <= ceilings[i]):
            found.append(i)
    return found
