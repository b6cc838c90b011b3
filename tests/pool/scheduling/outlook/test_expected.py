"""Expected starts: in the order of the queue, by declared times and by past overruns."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from pool.scheduling.model import Reason, Topology
from pool.scheduling.outlook.expected import MOST, expect, expected
from pool.scheduling.plan import plan
from tests.builders import NOW, req, snapshot, whole
from tests.pool.scheduling.worlds import worlds


def _pool(count=2, ends=600, **rest):
    return (
        snapshot()
        .node("n1")
        .card("A30", count=count, modes=("whole",))
        .busy(count, ends=ends, **rest)
    )


def _starts(world):
    found = expected(world.made, plan(world.made))
    return {key: tuple(at - NOW for at in times) for key, times in found.items()}


def test_each_starts_when_cards_come_free_after_those_before_it():
    world = _pool().queue(*(whole(i, declared_s=100.0) for i in (1, 2, 3, 4, 5)))
    found = _starts(world)
    assert [found[i][0] for i in (1, 2, 3, 4, 5)] == [600, 600, 700, 700, 800]


def test_past_overruns_make_the_ninety_per_cent_later_than_the_half():
    world = _pool(1, p90_ratio=2.0).queue(
        whole(1, declared_s=100.0, p90_ratio=3.0), whole(2, declared_s=500.0)
    )
    assert _starts(world) == {1: (600, 1300), 2: (700, 1600)}


def test_shares_of_one_card_start_as_its_holders_end():
    world = snapshot().node("n1").card("A100-80GB", modes=("mps",))
    for number, ends in ((1, 100), (2, 200)):
        world = world.slice(1, "", mode="mps", memory=40_960, compute=500)
        world = world.running(900 + number, slices=(number,), ends=ends, hosts=((1, 0, 0, 0),))
    works = [req(i, share_milli=500, declared_s=50.0, tenant="p1") for i in (1, 2, 3)]
    found = _starts(world.queue(*works))
    assert [found[i][0] for i in (1, 2, 3)] == [100, 150, 200]


def test_a_gang_over_nodes_starts_when_the_last_of_its_cards_is_free():
    world = snapshot()
    for node, ends in enumerate((100, 300, 200)):
        world = world.node(f"n{node}", network="net").card("A30", count=2, modes=("whole",))
        world = world.busy(2, ends=ends, first=900 + 10 * node)
    gang = whole(1, 4, topology=Topology.NETWORK, declared_s=10.0)
    assert _starts(world.queue(gang)) == {1: (200, 200)}


def test_what_a_rule_bars_or_fits_nowhere_has_no_expected_start():
    world = _pool().quota("p2", limit=0)
    world = world.queue(
        whole(1, held_back="on hold"), whole(2, tenant="p2"), whole(3, 9), req(4, gb=500)
    )
    assert _starts(world) == {}


def test_the_plan_is_told_with_its_expected_starts():
    world = _pool().queue(whole(1, declared_s=100.0), whole(2, held_back="on hold"))
    told = expect(world.made, plan(world.made)).waits
    assert (told[1].starts_p50_s, told[1].starts_p90_s) == (NOW + 600, NOW + 600)
    assert told[2].reason is Reason.HELD_BACK and told[2].starts_p50_s is None


@pytest.mark.parametrize("more", [0, 5])
def test_only_the_first_of_a_long_queue_are_looked_at(more):
    works = [whole(i, declared_s=60.0) for i in range(MOST + more)]
    assert len(_starts(_pool().queue(*works))) == MOST


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds())
def test_nobody_is_expected_before_now_and_half_never_after_ninety_per_cent(world):
    made = plan(world)
    for key, (half, most) in expected(world, made).items():
        assert world.now_s <= half <= most
        assert key in made.waits
    turned = replace(world, waiting=world.waiting[::-1], running=world.running[::-1])
    assert expected(turned, plan(turned)) == expected(world, made)
