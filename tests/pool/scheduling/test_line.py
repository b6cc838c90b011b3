"""A slice is put where the slices of those next in line still fit (field case D01)."""

from itertools import permutations

import pytest

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.model import Demand, Need
from pool.scheduling.plan import plan
from tests.builders import req, snapshot

WHOLE_LAYOUTS = (
    "1g 1g 1g 4g",
    "2g 1g 4g",
    "3g 4g",
    "3g 3g",
    "2g 2g 2g 1g",
    "1g 1g 2g 3g",
    "1g 1g 1g 1g 1g 1g 1g",
)
NAMES = {"1g": "1g.10gb", "2g": "2g.20gb", "3g": "3g.40gb", "4g": "4g.40gb", "7g": "7g.80gb"}
HISTORIES = ("", "1g", "2g", "3g", "4g", "7g", "1g 2g 3g 4g 7g")


def asked(number, size):
    return req(number, profile=NAMES[size], modes=frozenset({Mode.MIG}))


def recent(sizes):
    needs = (Need(profile=NAMES[size], modes=frozenset({Mode.MIG})) for size in sizes.split())
    return tuple(Demand(need=need, weight=1.0) for need in needs)


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("layout", WHOLE_LAYOUTS)
def test_what_waits_together_and_is_legal_as_a_whole_starts_together_in_any_order(layout, history):
    for order in sorted(set(permutations(layout.split()))):
        queue = [asked(i + 1, size) for i, size in enumerate(order)]
        world = snapshot().node("n1").card().queue(*queue).have(demand=recent(history))
        made = plan(world.made)
        assert len(made.placed) == len(queue), (order, history)


def test_who_stands_first_is_served_though_more_could_start_without_it():
    queue = [asked(1, "7g"), *(asked(i, "1g") for i in range(2, 9))]
    made = plan(snapshot().node("n1").card().queue(*queue).made)
    assert [placed.workload for placed in made.placed] == [1]


def test_a_long_line_behind_counts_for_one_card_only_by_the_seven_who_are_next():
    queue = [asked(i, "1g") for i in range(1, 8)] + [asked(i, "4g") for i in range(8, 40)]
    made = plan(snapshot().node("n1").card(count=2).queue(*queue).made)
    assert {placed.workload for placed in made.placed} >= set(range(1, 9))
