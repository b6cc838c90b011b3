"""Changes that would start a workload now: each one was planned and does."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.plan import plan
from pool.scheduling.suggest import MOST, PLANS, Change, suggest
from tests.builders import req, snapshot, whole
from tests.pool.scheduling.dense import dense_worlds
from tests.pool.scheduling.worlds import worlds


def _offered(world, number=1):
    made = plan(world.made)
    work = next(w for w in world.made.waiting if w.id == number)
    return {s.change: s.amount for s in suggest(world.made, work, made)}


def test_fewer_cards_are_suggested_as_many_as_there_are():
    world = snapshot().node("n1").card("A30", count=4, modes=("whole",)).busy(1, ends=600)
    assert _offered(world.queue(whole(1, 4)))[Change.FEWER_CARDS] == 3


def test_a_shorter_time_that_slips_in_is_suggested():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",)).busy(1, ends=600)
    world = world.queue(whole(1, 2, declared_s=60.0), whole(2, declared_s=9000.0))
    assert _offered(world, 2) == {Change.SHORTER: 600}


def test_another_model_is_suggested_only_when_it_fits():
    world = snapshot().node("n1").card("A30", modes=("whole",)).busy(1, ends=600)
    queue = whole(1, labels=frozenset({"A30"}))
    assert _offered(world.queue(queue)) == {}
    assert _offered(world.card("L40S", modes=("whole",)).queue(queue)) == {Change.OTHER_MODEL: 0}


def test_a_mode_inside_the_trust_group_is_suggested():
    world = snapshot().node("n1").card("L40S", modes=("mps",))
    assert _offered(world.queue(req(1, gb=10, modes=(Mode.MIG,)))) == {Change.OTHER_MODE: 0}


def test_less_cpu_and_less_memory_are_suggested():
    world = snapshot().node("n1", cpu=8000, cpu_free=3000).card("A30")
    offered = _offered(world.queue(whole(1, cpu_milli=6000)))
    assert offered == {Change.LESS_CPU: 3000}


def test_a_smaller_share_is_suggested():
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",))
    world = world.slice(1, "4g.40gb", start=0).running(901, slices=(1,), ends=60)
    world = world.slice(1, "2g.20gb", start=4).running(902, slices=(2,), ends=60)
    offered = _offered(world.queue(req(1, gb=40, compute_milli=140)))
    assert offered == {Change.LESS_MEMORY: 20}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(dense_worlds(most=3), worlds(most=3)))
def test_every_suggestion_starts_the_work_and_costs_nobody_a_start(world):
    made = plan(world)
    starts = {placed.workload for placed in made.placed}
    for work in world.waiting:
        if work.id not in made.waits:
            continue
        offered = suggest(world, work, made)
        assert len(offered) <= MOST
        for suggestion in offered:
            waiting = tuple(suggestion.work if w.id == work.id else w for w in world.waiting)
            again = {p.workload for p in plan(replace(world, waiting=waiting)).placed}
            assert work.id in again and starts <= again


def test_what_is_barred_is_not_offered_and_of_one_kind_only_so_many_amounts_are_planned():
    world = snapshot().node("n1").card("A30", count=4, modes=("whole",)).busy(3, ends=600)
    world = world.queue(whole(1, 4))
    made = plan(world.made)
    (work,) = world.made.waiting
    (offered,) = suggest(world.made, work, made, each=3)
    assert (offered.change, offered.amount) == (Change.FEWER_CARDS, 1)
    assert suggest(world.made, work, made, each=2) == ()
    assert suggest(world.made, work, made, barred=frozenset({Change.FEWER_CARDS})) == ()


@pytest.mark.parametrize("cards", [2, 40])
def test_the_search_makes_a_bounded_number_of_plans_whatever_the_pool_and_the_need(
    monkeypatch, cards
):
    world = snapshot().node("n1").card("A30", count=cards, modes=("whole",)).busy(cards, ends=600)
    world = world.queue(whole(1, cards, cpu_milli=8000, host_memory_mib=8000)).made
    made, planned = plan(world), []
    monkeypatch.setattr(
        "pool.scheduling.suggest.plan", lambda world: planned.append(1) or plan(world)
    )
    assert suggest(world, world.waiting[0], made) == ()
    assert len(planned) <= PLANS
