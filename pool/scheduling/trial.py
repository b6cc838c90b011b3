"""Trying a MIG need on a layout: the best answer for each layout, worked out once."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from nodeagent.protocol.inventory import Geometry
from nodeagent.protocol.vocabulary import Mode
from pool.carving.geometry import capacity, cut_of
from pool.carving.pack import FATE, FATE_OF_STAYERS, Weights, demand_weights, worth
from pool.carving.plan import Piece, Recut, layout_of, recut
from pool.carving.sizes import profiles_for
from pool.scheduling.board import Board, Flags, Ints
from pool.scheduling.grant import Grant, ask_of
from pool.scheduling.model import Need, Reason, Waiting
from pool.scheduling.stock import Layout
from pool.scheduling.words import NO_LAYOUT

LINE = "line"

MOST_BEHIND = 7
"""No card holds more slices, so nobody further behind can matter to it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The best way to get one profile onto one layout.

    `loss` is the worth that it costs, `taken` how many fewer of each profile then find a place.
    """

    profile: int
    answer: Recut
    loss: float
    taken: tuple[int, ...]


@lru_cache(maxsize=65536)
def try_layout(
    geometry: Geometry,
    layout: Layout,
    profiles: tuple[int, ...],
    weights: Weights,
    behind: tuple[int, ...] = (),
) -> Trial | None:
    """The tightest profile that the layout has room for, with the fewest removals.

    It lies where most of those `behind` still fit. The pieces in the answer are numbered from 0
    in the layout's own order.
    """
    cut = cut_of(geometry)
    pieces = [
        Piece(i, name, start, size, fixed, givable)
        for i, (name, start, size, fixed, givable) in enumerate(layout)
    ]
    fixed_only = layout_of(cut, [piece for piece in pieces if piece.fixed])
    for profile in profiles:
        answer = recut(cut, pieces, [profile], weights, behind)
        if answer is not None:
            given = [pieces[i] for i in answer.reused if not pieces[i].fixed]
            after = layout_of(cut, [*(p for p in pieces if p.fixed), *given])
            for place in answer.added:
                after = after.plus(place)
            loss = worth(cut, fixed_only, weights) - worth(cut, after, weights)
            taken = (
                capacity(cut, fixed_only, i) - capacity(cut, after, i)
                for i in range(len(geometry.profiles))
            )
            return Trial(profile, answer, round(loss, 9), tuple(taken))
    return None


def layout_open(
    board: Board, rows: Ints, grants: Sequence[Grant | Reason], weights: Weights | None = None
) -> Flags:
    """Which of these cards have, or can be cut to have, room for one of the granted profiles."""
    width = len(board.words.layouts) + 1
    keys = board.cards.kind[rows] * width + (board.cards.layout[rows] - NO_LAYOUT)
    present = np.bincount(keys, minlength=width * len(board.kinds))
    fits = np.zeros(len(present), dtype=np.bool_)
    for key in np.flatnonzero(present).tolist():
        kind, layout = key // width, key % width + NO_LAYOUT
        fits[key] = layout != NO_LAYOUT and trial_at(board, kind, layout, grants) is not None
    fine: Flags = fits[keys]
    return fine


def trial_at(
    board: Board,
    kind: int,
    layout: int,
    grants: Sequence[Grant | Reason],
    behind: tuple[int, ...] = (),
    *,
    stays: bool = False,
) -> Trial | None:
    """The trial of the granted profiles on one kind of card with one layout.

    `stays` is for work of which nobody knows an end: how full cards get then counts for more.
    """
    granted = grants[kind]
    geometry = board.kinds[kind].geometry(Mode.MIG)
    if geometry is None or not isinstance(granted, Grant) or not granted.profiles:
        return None
    weights = weights_of(board, kind, stays=stays)
    return try_layout(geometry, board.words.layouts[layout], granted.profiles, weights, behind)


def weights_of(board: Board, kind: int, *, stays: bool = False) -> Weights:
    """How often each profile of this kind of card is asked for, by the recent demand."""
    found: Weights | None = board.words.memo.get(("weights", kind, stays))
    if found is None:
        geometry = board.kinds[kind].geometry(Mode.MIG)
        assert geometry is not None
        asked: dict[str, float] = {}
        for demand in board.snapshot.demand:
            name = _profile_for(board, kind, geometry, demand.need)
            asked[name] = asked.get(name, 0.0) + demand.weight
        asked.pop("", None)
        found = demand_weights(cut_of(geometry), asked, FATE_OF_STAYERS if stays else FATE)
        board.words.memo["weights", kind, stays] = found
    return found


def places_left(board: Board, partition: int, kind: int) -> Sequence[int]:
    """How many of each profile the partition's cards of this kind have room for, each by itself."""
    cards, rows = board.cards, board.rows[partition]
    layouts = cards.layout[rows[(cards.kind[rows] == kind) & cards.offered[rows]]]
    counts = np.bincount(layouts[layouts != NO_LAYOUT])
    present = np.flatnonzero(counts)
    room = [_rooms(board, kind, layout) for layout in present.tolist()]
    found: list[int] = (counts[present] @ np.array(room, dtype=np.int64)).tolist() if room else []
    return found


def _rooms(board: Board, kind: int, layout: int) -> tuple[int, ...]:
    """How many of each profile one card of that layout has room for once what is idle is gone."""
    key = ("rooms", kind, layout)
    found: tuple[int, ...] | None = board.words.memo.get(key)
    if found is None:
        geometry = board.kinds[kind].geometry(Mode.MIG)
        assert geometry is not None
        cut = cut_of(geometry)
        told = enumerate(board.words.layouts[layout])
        pieces = [Piece(i, *piece) for i, piece in told if piece[3]]
        fixed = layout_of(cut, pieces)
        found = tuple(capacity(cut, fixed, i) for i in range(len(geometry.profiles)))
        board.words.memo[key] = found
    return found


@dataclass(slots=True)
class Line:
    """The queue of one round in its order, and which profile of each kind of card it asks for."""

    queue: tuple[Waiting, ...]
    place: dict[int, int]
    asked: dict[int, tuple[list[int], list[int]]]


def line_up(board: Board, queue: Iterable[Waiting]) -> None:
    """Tell the board who comes after whom in this round."""
    works = tuple(queue)
    place = {work.id: i for i, work in enumerate(works)}
    board.words.memo[LINE] = Line(works, place, {})


def behind_of(board: Board, kind: int, work: Waiting) -> tuple[int, ...]:
    """The profiles that the next in line ask of this kind of card, at most a card's worth.

    A slice is put where theirs still fit: start by start, a layout that is legal as a whole could
    be stranded.
    """
    line: Line | None = board.words.memo.get(LINE)
    if line is None or work.id not in line.place:
        return ()
    if kind not in line.asked:
        line.asked[kind] = _asked(board, kind, line.queue)
    places, profiles = line.asked[kind]
    first = bisect_right(places, line.place[work.id])
    return tuple(profiles[first : first + MOST_BEHIND])


def _asked(board: Board, kind: int, queue: Sequence[Waiting]) -> tuple[list[int], list[int]]:
    """Places in the line, and the index of the profile that each there asks for."""
    geometry = board.kinds[kind].geometry(Mode.MIG)
    assert geometry is not None
    index = {profile.name: i for i, profile in enumerate(geometry.profiles)}
    partition = board.kinds[kind].partition
    places, profiles = [], []
    for i, work in enumerate(queue):
        name = "" if work.held_back else _profile_for(board, kind, geometry, work.need)
        if name and partition in work.partitions:
            places.append(i)
            profiles.append(index[name])
    return places, profiles


def _profile_for(board: Board, kind: int, geometry: Geometry, need: Need) -> str:
    """The tightest profile that would meet the need on this kind of card; empty when none."""
    if need.whole or not need.parts or (need.modes and Mode.MIG not in need.modes):
        return ""
    tolerance = board.tolerance_milli(board.kinds[kind].partition)
    met = profiles_for(geometry, board.kinds[kind].size, ask_of(need), tolerance)
    return geometry.profiles[met[0]].name if met else ""
