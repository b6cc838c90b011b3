"""Which work a used-up limit marks, and what it is told is missing."""

from dataclasses import replace

import pytest

from pool.cycle.standing import Spent, standing
from pool.lifecycle.roles import QuotaUnit
from tests.builders import snapshot, whole

WORKLOADS = Spent("p1", 1, QuotaUnit.WORKLOADS, 1, 1)
MEMORY = replace(WORKLOADS, unit=QuotaUnit.MEMORY_MIB, limit=4, held=4)


def _marks(one, *spent, running=(), promised=()):
    (marked,) = standing([one], spent=spent, running=running, promised=promised)
    return marked


@pytest.fixture
def work():
    return replace(whole(1), tenants=("p1",), partitions=(1,))


def test_work_is_stopped_where_its_tenant_has_nothing_left_in_any_of_its_partitions(work):
    marked = _marks(work, WORKLOADS)
    assert (marked.spent, marked.over) == (frozenset({("p1", 1)}), True)
    assert (marked.short.unit, marked.short.needed, marked.short.free) == ("workloads", 1, 0)
    elsewhere = _marks(replace(work, partitions=(1, 2)), WORKLOADS)
    assert (elsewhere.spent, elsewhere.short, elsewhere.over) == (marked.spent, None, False)


def test_others_limits_and_limits_that_count_nothing_of_it_stop_nobody(work):
    assert _marks(replace(work, tenants=("p2",)), WORKLOADS).spent == frozenset()
    without = replace(work, need=replace(work.need, parts=0))
    assert _marks(without, MEMORY).spent == frozenset()
    assert _marks(work, MEMORY).short.unit == "memory_mib"


def test_work_with_kept_cards_or_with_room_being_made_is_not_judged_by_it(work):
    assert _marks(replace(work, kept=frozenset({5})), WORKLOADS).short is None
    assert _marks(work, WORKLOADS, promised={1}).short is None


def test_while_work_of_its_tenant_stays_there_that_one_may_give_back(work):
    world = snapshot().node("n1").card("A30", modes=("whole",)).slice(1, "whole", mode="whole")
    (run,) = world.running(901, slices=(1,), hosts=((1, 0, 0, 0),), ends=60).made.running
    run = replace(run, tenants=("p1",), partition=1)
    assert not _marks(work, WORKLOADS, running=[run]).over
    assert _marks(work, WORKLOADS, running=[replace(run, leaving=True)]).over
