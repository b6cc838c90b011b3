"""Nobody is interrupted for work that its own limits would not let start."""

import pytest

from pool.cycle.round import run_rounds
from pool.models import Event, YieldOrder
from tests import rows
from tests.pool.services.yielding.conftest import WHOLE, saved, seen

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("unit", "limit"),
    [("workloads", 1), ("memory_mib", 81_920), ("memory_mib", 90_000), ("compute_milli", 1_500)],
)
def test_work_at_a_limit_that_the_planner_does_not_count_ousts_nobody(pool, unit, limit):
    theirs = rows.project()
    rows.quota(limit=limit, unit=unit, project=theirs, partition=pool.part)
    pool.running(pool.high, into=theirs)
    low = pool.running()
    winner = pool.submit(pool.high, into=theirs)
    for _ in range(3):
        run_rounds()
    assert seen(low).state == "running"
    assert not YieldOrder.objects.exists()
    assert seen(winner).waits["reason"] == "quota"
    assert winner.waits["shortage"]["unit"] == unit
    assert (
        Event.objects.filter(kind="workload.explained", subject=f"workload:{winner.uid}").count()
        == 1
    )


def test_what_its_own_victim_gives_back_counts_as_room(pool):
    rows.quota(limit=2, unit="workloads", project=pool.into, partition=pool.part)
    lows = [pool.running(), pool.running()]
    winner = pool.submit(pool.high)
    pool.go()
    (victim,) = [one for one in lows if seen(one).state == "preempting"]
    pool.leave(victim)
    pool.go()
    assert seen(winner).state == "running"


def test_behind_work_at_its_limit_others_still_find_the_room(pool):
    theirs = rows.project()
    rows.quota(limit=0, unit="workloads", project=theirs, partition=pool.part)
    low = pool.running()
    pool.running(pool.high)
    refused = pool.submit(pool.high, into=theirs)
    winner = pool.submit(pool.high)
    run_rounds()
    assert seen(low).state == "preempting"
    assert YieldOrder.objects.get().winner == winner
    assert seen(refused).waits["reason"] == "quota"


def test_where_a_limit_is_used_up_its_own_dearer_work_leaves_and_not_anothers(pool):
    theirs = rows.project()
    rows.quota(limit=1, unit="workloads", project=theirs, partition=pool.part)
    own = pool.running(into=theirs)
    another = pool.running()
    saved(another)
    winner = pool.submit(pool.high, into=theirs)
    pool.go()
    assert [seen(own).state, seen(another).state] == ["preempting", "running"]
    pool.leave(own)
    pool.go()
    assert seen(winner).state == "running"


def test_work_at_its_limit_is_told_so_though_its_own_work_could_not_give_way(pool):
    theirs = rows.project()
    rows.quota(limit=1, unit="workloads", project=theirs, partition=pool.part)
    own = pool.running(rows.template(need=WHOLE, priority="normal"), into=theirs)
    low = pool.running()
    winner = pool.submit(pool.high, into=theirs)
    run_rounds()
    assert [seen(own).state, seen(low).state] == ["running", "running"]
    assert seen(winner).waits["reason"] == "quota"


def test_free_room_is_not_kept_for_work_at_its_limit(pool):
    theirs = rows.project()
    rows.quota(limit=1, unit="workloads", project=theirs, partition=pool.part)
    own = pool.running(into=theirs)
    stopped = pool.submit(pool.high, into=theirs)
    small = pool.submit(pool.low)
    run_rounds()
    assert seen(small).state != "queued"
    assert [seen(own).state, seen(stopped).state] == ["running", "queued"]
    assert (stopped.waits["reason"], stopped.waits["level"]) == ("quota", "rule")
    assert stopped.waits["shortage"] == {
        "unit": "workloads",
        "needed": 1,
        "free": 0,
        "where": "project",
    }
