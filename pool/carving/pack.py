"""Demand to layout on one card: exact, and with the least loss of what could still be cut."""

from collections.abc import Mapping
from functools import lru_cache

from pool.carving.geometry import EMPTY, Cut, Layout, Place, capacity, free_places

Weights = tuple[float, ...]
"""How often each profile of a geometry is asked for; the sum is 1."""


def even_weights(cut: Cut) -> Weights:
    """Every plain profile that can exist at all is asked for equally often."""
    return demand_weights(cut, {})


def demand_weights(cut: Cut, asked: Mapping[str, float]) -> Weights:
    """Weights from recent demand by profile name, half of them spread evenly over all profiles.

    The even half keeps room for what nobody has asked for lately; profiles with extra engines
    count only where they were asked for.
    """
    total = sum(asked.values()) or 1.0
    seen = [
        asked.get(profile.name, 0.0) / total + float("+" not in profile.name)
        if capacity(cut, EMPTY, i)
        else 0.0
        for i, profile in enumerate(cut.geometry.profiles)
    ]
    return tuple(s / (sum(seen) or 1.0) for s in seen)


@lru_cache(maxsize=65536)
def room(cut: Cut, layout: Layout, weights: Weights) -> float:
    """What the layout can still hold: for each profile the share of an empty card's count."""
    total = 0.0
    for i, weight in enumerate(weights):
        if weight:
            total += weight * capacity(cut, layout, i) / capacity(cut, EMPTY, i)
    return total


def best_place(cut: Cut, layout: Layout, profile: int, weights: Weights) -> Place | None:
    """The start that leaves most room for later work; the highest start breaks a tie."""
    free = free_places(cut, layout, profile)
    if not free:
        return None
    return max(free, key=lambda p: (round(room(cut, layout.plus(p), weights), 9), p.start))


def pack(
    cut: Cut, layout: Layout, wanted: tuple[int, ...], weights: Weights | None = None
) -> tuple[Place, ...] | None:
    """Places for every wanted profile beside the layout, or None when no legal set exists.

    Exact: all legal sets are searched (each layout once), and the one that leaves most room wins.
    The answer does not depend on the order of `wanted`; the tightest profile comes first in it.
    """
    ordered = tuple(sorted(wanted, key=lambda i: (len(cut.places[i]), -cut.profile(i).size, i)))
    found = _search(cut, layout, ordered, weights or even_weights(cut))
    return None if found is None else found[1]


@lru_cache(maxsize=65536)
def _search(
    cut: Cut, layout: Layout, wanted: tuple[int, ...], weights: Weights
) -> tuple[tuple[float, tuple[int, ...]], tuple[Place, ...]] | None:
    """Best (score, places) for the wanted rest; score is room left, then high starts."""
    if not wanted:
        return (round(room(cut, layout, weights), 9), ()), ()
    best: tuple[tuple[float, tuple[int, ...]], tuple[Place, ...]] | None = None
    for place in free_places(cut, layout, wanted[0]):
        rest = _search(cut, layout.plus(place), wanted[1:], weights)
        if rest is None:
            continue
        score = (rest[0][0], (place.start, *rest[0][1]))
        if best is None or score > best[0]:
            best = (score, (place, *rest[1]))
    return best
