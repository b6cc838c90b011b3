"""From a queued workload to a freed slice, through the ring."""

import pytest

from pool.cycle.round import run_rounds
from pool.events import SYSTEM
from pool.models import Event, Hold, Installation, Placement, Quota, Slice, Workload
from pool.services.workloads import workload_stop
from pool.wake import round_wanted
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    rows.partition()
    return Obedient(rows.node())


def test_a_round_that_is_written_was_judged_by_the_checker(pool, judged_rounds):
    work = rows.workload()
    assert run_rounds().opened == 1
    (made,) = {placed.workload for _, made in judged_rounds for placed in made.placed}
    assert made == work.pk


def test_work_is_placed_carved_run_and_released(pool):
    work = rows.workload()
    quota = rows.quota(
        limit=1_000_000,
        label="A100-80GB",
        project=work.project,
        partition=work.partitions.get(),
    )
    done = run_rounds()
    assert done.opened == 1 and done.stale == 0
    work.refresh_from_db()
    assert work.state == "placed"
    assert (
        Quota.objects.get(pk=quota.pk).held
        == Hold.objects.get(slice__isnull=False).equivalents_micro
    )
    wish = pool.pull()
    assert [(one.mode, one.profile) for one in wish.slices] == [("mig", "1g.20gb")]
    assert wish.work[0].command == ("true",)
    assert wish.work[0].env["GPUPOOL_WORKLOAD"] == work.uid
    pool.tell()
    work.refresh_from_db()
    assert work.state == "running"
    assert Slice.objects.get().state == "ready"
    pool.finish(work)
    taken = pool.tell()
    assert len(taken.closed) == 1 and taken.wake
    work.refresh_from_db()
    assert (work.state, work.exit_code, work.exit_reason) == ("succeeded", 0, "finished")
    assert Placement.objects.get().state == "closed"
    assert not Hold.objects.filter(held__upper_inf=True).exists()
    assert Quota.objects.get(pk=quota.pk).held == 0
    assert Slice.objects.get().state == "ready"
    assert pool.pull().work == ()
    told = list(Event.objects.filter(subject=f"workload:{work.uid}").values_list("data", flat=True))
    assert [one["to"] for one in told if "to" in one] == [
        "placed",
        "starting",
        "running",
        "succeeded",
    ]


def test_an_idle_slice_is_given_again_without_a_carve(pool):
    for _ in range(2):
        work = rows.workload()
        run_rounds()
        pool.turn()
        pool.finish(work)
        pool.tell()
    assert Slice.objects.count() == 1
    assert Workload.objects.filter(state="succeeded").count() == 2


def test_idle_slices_make_room_for_a_whole_card_and_nobody_steals_it(pool):
    small = rows.workload()
    run_rounds()
    pool.turn()
    pool.finish(small)
    pool.tell()
    big = rows.workload(version=rows.template(need={"parts": 1, "whole": True}))
    run_rounds()
    big.refresh_from_db()
    assert big.state == "queued" and big.waits["reason"] == "carving"
    thief = rows.workload()
    run_rounds()
    thief.refresh_from_db()
    assert thief.state == "queued"
    pool.turn()
    assert Slice.objects.filter(state="gone").count() == 1
    run_rounds()
    big.refresh_from_db()
    assert big.state == "placed"
    pool.turn()
    big.refresh_from_db()
    assert big.state == "running"


def test_work_refused_by_a_limit_the_planner_does_not_count_keeps_no_room_from_others(pool):
    rows.node()
    whole = rows.template(need={"parts": 1, "whole": True})
    first, second = rows.workload(version=whole), rows.workload(version=whole)
    rows.quota(limit=0, unit="workloads", project=first.project, partition=first.partitions.get())
    assert run_rounds().opened == 1
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == ("queued", "placed")
    assert first.waits["reason"] == "quota"
    assert first.waits["shortage"]["where"] == "project"
    assert first.waits["shortage"]["unit"] == "workloads"


def test_a_cancelled_workloads_room_is_anybodys_at_once(pool):
    small = rows.workload()
    run_rounds()
    pool.turn()
    pool.finish(small)
    pool.tell()
    whole = rows.template(need={"parts": 1, "whole": True})
    big = rows.workload(version=whole)
    run_rounds()
    other = rows.workload(version=whole)
    workload_stop(workload=big, actor=SYSTEM)
    pool.turn()
    run_rounds()
    other.refresh_from_db()
    assert other.state == "placed"


def test_a_wish_is_carried_out_once_and_without_one_only_beat_makes_a_round(pool):
    rows.workload(need={"parts": 9, "whole": True})
    run_rounds()
    assert run_rounds(anyway=False).rounds == 0
    round_wanted()
    round_wanted()
    assert run_rounds(anyway=False).rounds == 1
    assert run_rounds(anyway=False).rounds == 0
    assert run_rounds(anyway=True).rounds == 1
    state = Installation.objects.get()
    assert state.round_done == state.round_wanted
