"""Demand to layout on one card: exact, and with the least loss of what could still be cut."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pool.carving.geometry import EMPTY, Cut, Layout, Place, capacity, free_places

Shares = tuple[float, ...]

Score = tuple[int, float, tuple[int, ...]]
"""How many of those behind still fit, what the layout is worth, the starts: more is better."""

FATE, FATE_OF_STAYERS = 0.83, 0.88
"""How much the fate of a layout counts, against the room that it has now: where work comes and
goes, and where it stays for good."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How often each profile of a geometry is asked for, and how much a layout's fate counts.

    The sum of the shares is 1, within rounding.
    """

    shares: Shares
    fate: float = FATE


def even_weights(cut: Cut) -> Weights:
    """Every plain profile that can exist at all is asked for equally often."""
    plain = _plain(cut)
    return Weights(tuple(p / (sum(plain) or 1.0) for p in plain))


def demand_weights(cut: Cut, asked: Mapping[str, float], fate: float = FATE) -> Weights:
    """Weights from recent demand by profile name, even where nothing that can exist was asked for.

    In hundredths, so that a slight change of demand does not make every layout be judged anew.
    """
    seen = [
        asked.get(profile.name, 0.0) if capacity(cut, EMPTY, i) else 0.0
        for i, profile in enumerate(cut.geometry.profiles)
    ]
    total = sum(seen)
    shares = tuple(round(s / total, 2) for s in seen) if total else even_weights(cut).shares
    return Weights(shares, fate)


@lru_cache(maxsize=512)
def _plain(cut: Cut) -> tuple[float, ...]:
    """1 for each profile without extra engines that can exist at all, else 0."""
    return tuple(
        float("+" not in profile.name and capacity(cut, EMPTY, i) > 0)
        for i, profile in enumerate(cut.geometry.profiles)
    )


@lru_cache(maxsize=65536)
def worth(cut: Cut, layout: Layout, weights: Weights) -> float:
    """What the layout is good for: the room it has, and how little of it will stay empty.

    Room counts while work comes and goes; what stays empty counts once the card fills up.
    """
    left = fate(cut, layout, weights) / cut.geometry.units
    return (1.0 - weights.fate) * room(cut, layout, weights) - weights.fate * left


def room(cut: Cut, layout: Layout, weights: Weights) -> float:
    """What the layout can still hold: for each profile the share of an empty card's count.

    Half of it is weighed by demand, half evenly over the plain profiles: that keeps room for what
    nobody has asked for lately.
    """
    plain = _plain(cut)
    even = sum(plain) or 1.0
    total = 0.0
    for i, weight in enumerate(weights.shares):
        both = (weight + plain[i] / even) / 2
        if both:
            total += both * capacity(cut, layout, i) / capacity(cut, EMPTY, i)
    return total


def fate(cut: Cut, layout: Layout, weights: Weights) -> float:
    """How many units are expected to stay empty when the demand, as it comes, fills the card.

    Each arrival that still fits takes the place with the best fate.
    """
    return _fate(cut, layout, weights.shares, _fates(cut, weights.shares))


@lru_cache(maxsize=64)
def _fates(cut: Cut, shares: Shares) -> dict[Layout, float]:
    """The fates found so far of one geometry under one demand."""
    return {}


def _fate(cut: Cut, layout: Layout, shares: Shares, known: dict[Layout, float]) -> float:
    found = known.get(layout)
    if found is None:
        empty = chance = 0.0
        for i, weight in enumerate(shares):
            free = free_places(cut, layout, i) if weight else ()
            if free:
                chance += weight
                empty += weight * min(_fate(cut, layout.plus(p), shares, known) for p in free)
        units = cut.geometry.units - layout.mask.bit_count()
        known[layout] = found = empty / chance if chance else float(units)
    return found


def best_place(cut: Cut, layout: Layout, profile: int, weights: Weights) -> Place | None:
    """The start that leaves the layout worth most; the highest start breaks a tie."""
    free = free_places(cut, layout, profile)
    if not free:
        return None
    return max(free, key=lambda p: (round(worth(cut, layout.plus(p), weights), 9), p.start))


def pack(
    cut: Cut,
    layout: Layout,
    wanted: tuple[int, ...],
    weights: Weights | None = None,
    behind: tuple[int, ...] = (),
) -> tuple[Place, ...] | None:
    """Places for every wanted profile beside the layout, or None when no legal set exists.

    Exact: all legal sets are searched (each layout once). The one on which most of those `behind`,
    in their order, still find a place wins, then the one that leaves the card worth most. The
    answer does not depend on the order of `wanted`; the tightest profile comes first in it.
    """
    ordered = tuple(sorted(wanted, key=lambda i: (len(cut.places[i]), -cut.profile(i).size, i)))
    found = _search(cut, layout, ordered, weights or even_weights(cut), behind)
    return None if found is None else found[1]


@lru_cache(maxsize=65536)
def follow(cut: Cut, layout: Layout, behind: tuple[int, ...]) -> int:
    """How many of these profiles, each in its turn, still find a place beside those before it."""
    kept: list[int] = []
    for profile in behind:
        if _fits(cut, layout, tuple(sorted((*kept, profile)))):
            kept.append(profile)
    return len(kept)


@lru_cache(maxsize=65536)
def _fits(cut: Cut, layout: Layout, wanted: tuple[int, ...]) -> bool:
    """Whether all of them have places at once; the one with the fewest is placed first."""
    if not wanted:
        return True
    at = min(range(len(wanted)), key=lambda i: (len(cut.places[wanted[i]]), wanted[i]))
    rest = wanted[:at] + wanted[at + 1 :]
    places = free_places(cut, layout, wanted[at])
    return any(_fits(cut, layout.plus(place), rest) for place in places)


@lru_cache(maxsize=65536)
def _search(
    cut: Cut, layout: Layout, wanted: tuple[int, ...], weights: Weights, behind: tuple[int, ...]
) -> tuple[Score, tuple[Place, ...]] | None:
    """Best (score, places) for the wanted rest: who follows, what is left worth, high starts."""
    if not wanted:
        return (follow(cut, layout, behind), round(worth(cut, layout, weights), 9), ()), ()
    best: tuple[Score, tuple[Place, ...]] | None = None
    for place in free_places(cut, layout, wanted[0]):
        rest = _search(cut, layout.plus(place), wanted[1:], weights, behind)
        if rest is None:
            continue
        score = (rest[0][0], rest[0][1], (place.start, *rest[0][2]))
        if best is None or score > best[0]:
            best = (score, (place, *rest[1]))
    return best
