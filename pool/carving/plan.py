"""Layout now plus demand: the fewest idle pieces to remove, and where the new ones go."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from pool.carving.geometry import Cut, Layout, Place
from pool.carving.pack import Weights, even_weights, follow, pack, worth


@dataclass(frozen=True, slots=True)
class Piece:
    """A slice on the card. `fixed` ones must stay; `givable` ones may be given as they are."""

    id: int
    profile: str
    start: int
    size: int
    fixed: bool
    givable: bool

    @property
    def mask(self) -> int:
        return ((1 << self.size) - 1) << self.start


@dataclass(frozen=True, slots=True)
class Recut:
    """An answer: idle pieces given as they are, pieces removed first, and new places."""

    reused: tuple[int, ...]
    removed: tuple[int, ...]
    added: tuple[Place, ...]
    worth_left: float
    follow: int = 0


def layout_of(cut: Cut, pieces: Sequence[Piece]) -> Layout:
    """The layout that these pieces make; one of an unknown profile still covers its units."""
    mask = 0
    used = []
    for piece in pieces:
        mask |= piece.mask
        index = cut.index(piece.profile)
        if index is not None:
            used.append(index)
    return Layout(mask, tuple(sorted(used)))


def recut(
    cut: Cut,
    pieces: Sequence[Piece],
    wanted: Sequence[int],
    weights: Weights | None = None,
    behind: tuple[int, ...] = (),
) -> Recut | None:
    """How to get the wanted profiles onto the card with the fewest removals, or None.

    Fixed pieces are never removed. Among equal numbers of removals, fewer new pieces win (an idle
    one is given as it is), then room for those `behind`, then what is left worth for later work,
    then the higher starts.
    """
    weights = weights or even_weights(cut)
    ordered = tuple(sorted(pieces, key=lambda p: (p.start, p.id)))
    idle = [p for p in ordered if not p.fixed]
    for count in range(len(idle) + 1):
        tried = (
            _without(cut, ordered, removed, tuple(wanted), weights, behind)
            for removed in combinations(idle, count)
        )
        found = [answer for answer in tried if answer is not None]
        if found:
            return max(found, key=_merit)
    return None


def _without(
    cut: Cut,
    pieces: Sequence[Piece],
    removed: tuple[Piece, ...],
    wanted: tuple[int, ...],
    weights: Weights,
    behind: tuple[int, ...],
) -> Recut | None:
    """The answer when exactly these pieces go first."""
    kept = [p for p in pieces if p not in removed]
    missing = Counter(cut.profile(i).name for i in wanted)
    reused = []
    for piece in kept:
        if piece.givable and missing[piece.profile] > 0:
            missing[piece.profile] -= 1
            reused.append(piece.id)
    rest = tuple(i for i in sorted(set(wanted)) for _ in range(missing[cut.profile(i).name]))
    layout = layout_of(cut, kept)
    added = pack(cut, layout, rest, weights, behind)
    if added is None:
        return None
    for place in added:
        layout = layout.plus(place)
    return Recut(
        reused=tuple(reused),
        removed=tuple(p.id for p in removed),
        added=added,
        worth_left=worth(cut, layout, weights),
        follow=follow(cut, layout, behind),
    )


def _merit(answer: Recut) -> tuple[int, int, float, tuple[int, ...], tuple[int, ...]]:
    """Fewer new pieces, room for who follows, worth, higher starts, older pieces: never a tie."""
    starts = tuple(place.start for place in answer.added)
    worth_left = round(answer.worth_left, 9)
    return (-len(answer.added), answer.follow, worth_left, starts, answer.removed)
