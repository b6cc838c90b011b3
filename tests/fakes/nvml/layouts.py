"""Every legal way to fill a card, found by trying all: the oracle of the carving tests."""

from functools import cache
from itertools import combinations

from tests.fakes.nvml.world import table_of


@cache
def maximal(model: str, *, doubled: bool = True) -> tuple[frozenset[tuple[str, int]], ...]:
    """Sets of (profile, start) of plain profiles to which nothing can be added.

    Without `doubled` the smallest slice with twice the memory is left out.
    """
    plain = [p for p in table_of(model)["profiles"] if p["name"].endswith("gb")]
    sizes: dict[int, int] = {}
    for one in plain:
        sizes[one["compute"]] = min(one["size"], sizes.get(one["compute"], one["size"]))
    if not doubled:
        plain = [p for p in plain if p["size"] == sizes[p["compute"]]]
    places = [(p["name"], s, p["size"], p["max_instances"]) for p in plain for s in p["starts"]]
    found: set[frozenset[tuple[str, int]]] = set()
    _grow((), places, places, found)
    return tuple(sorted(found, key=sorted))


def _grow(taken, rest, places, found):
    if not any(_fits(place, taken) for place in places):
        found.add(frozenset(place[:2] for place in taken))
    for number, place in enumerate(rest):
        if _fits(place, taken):
            _grow((*taken, place), rest[number + 1 :], places, found)


def _apart(one, other):
    return one[1] + one[2] <= other[1] or other[1] + other[2] <= one[1]


def _fits(place, taken):
    alike = sum(1 for one in taken if one[0] == place[0])
    return place not in taken and alike < place[3] and all(_apart(place, one) for one in taken)


def illegal_pairs(model: str) -> list[tuple[tuple[str, int], tuple[str, int]]]:
    """Two places that must not be taken together: they overlap, or there may be only one."""
    places = [
        (p["name"], s, p["size"], p["max_instances"])
        for p in table_of(model)["profiles"]
        for s in p["starts"]
    ]
    return [
        (one[:2], other[:2]) for one, other in combinations(places, 2) if not _fits(other, (one,))
    ]
