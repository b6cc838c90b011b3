"""Rows that name kinds of card: what none of them names is barred to their tenant."""

from dataclasses import replace

from pool.scheduling.plan import plan
from tests.builders import snapshot, whole


def _only(world):
    return world.have(quotas=tuple(replace(row, only=True) for row in world.made.quotas))


def _placed(world):
    return [placed.workload for placed in plan(world.made).placed]


def test_a_kind_of_card_that_no_row_of_an_allowance_names_is_barred():
    world = snapshot().node("n1").card("A30", modes=("whole",))
    other = world.quota("p1", limit=4, label="A100-80GB", partition=1)
    assert _placed(other.queue(whole(1))) == [1]
    assert _placed(_only(other).queue(whole(1))) == []
    assert _placed(_only(other).queue(whole(1, tenant="p2"))) == [1]
    both = other.quota("p1", limit=1, label="A30", partition=1)
    assert _placed(_only(both).queue(whole(1), whole(2))) == [1]


def test_a_row_for_all_cards_names_every_kind():
    world = snapshot().node("n1").card("A30", modes=("whole",))
    world = world.quota("p1", limit=4, label="A100-80GB", partition=1)
    assert _placed(_only(world.quota("p1", limit=4, partition=1)).queue(whole(1))) == [1]
