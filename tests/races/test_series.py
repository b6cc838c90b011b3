"""Many at once: no throttle is passed at any moment, no time of a schedule is handled twice."""

import threading
from datetime import timedelta

import pytest
from django.db import connection

from pool.clock import now
from pool.cycle.audit import breaches_now
from pool.cycle.recurring import recurring
from pool.cycle.round import run_rounds
from pool.errors import Invalid
from pool.events import SYSTEM, Actor
from pool.lifecycle.workloads import HOLDING
from pool.models import Dependency, Schedule, ScheduleRun, Workload
from pool.services.series.dependencies import After, dependencies_change
from pool.services.series.schedules import schedule_create
from pool.services.workloads import workload_stop
from tests.pool.many import many, of, state_of
from tests.races.test_rounds import together

pytestmark = pytest.mark.django_db(transaction=True)
THROTTLE = 2


def worked_off(place, array):
    """The node runs what it is given, and ends it at once, until nothing is left."""
    for _ in range(200):
        place.node.turn()
        for one in of(array, "running"):
            place.node.finish(one)
        place.node.tell()
        run_rounds()
        if state_of(array) == "succeeded":
            return


def test_no_throttle_is_passed_while_rounds_ends_and_looks_run_beside_one_another():
    place = many(cards=6)
    array = place.submit("0-9", throttle=THROTTLE)
    over = threading.Event()
    most = []

    def look():
        try:
            while not over.is_set():
                rows = Workload.objects.filter(parent=array, state__in=sorted(HOLDING))
                most.append(rows.count())
                over.wait(0.005)
        finally:
            connection.close()

    def rounds():
        while not over.is_set():
            run_rounds()
            over.wait(0.005)

    def node():
        try:
            worked_off(place, array)
        finally:
            over.set()

    raised = together(look, rounds, rounds, node)
    assert raised == [None] * 4
    assert state_of(array) == "succeeded"
    assert max(most) == THROTTLE
    assert breaches_now() == []


def test_a_cancel_beside_rounds_leaves_no_piece_behind():
    place = many(cards=6)
    array = place.submit("0-9", throttle=4)
    raised = together(
        run_rounds, run_rounds, lambda: workload_stop(workload=array, actor=SYSTEM), run_rounds
    )
    assert raised == [None] * 4
    place.node.turn()
    run_rounds()
    place.node.turn()
    run_rounds()
    assert state_of(array) == "cancelled"
    assert {one.state for one in of(array)} == {"cancelled"}
    assert breaches_now() == []


def test_two_edits_at_once_never_close_a_circle():
    place = many()
    one, other = place.submit(), place.submit()

    def edit(waits, on):
        dependencies_change(workload=waits, after=[After(on)], actor=SYSTEM)

    raised = together(lambda: edit(one, other), lambda: edit(other, one))
    assert sorted(type(error) for error in raised if error) == [Invalid]
    assert Dependency.objects.count() == 1


def test_every_time_of_a_schedule_is_handled_once_by_many_sweeps():
    place = many()
    names = [f"job-{number}" for number in range(5)]
    for name in names:
        schedule_create(
            user=place.owner,
            project=place.project,
            template_version=place.version,
            command=["true"],
            name=name,
            cron="* * * * *",
            overlap="queue",
            expected_seconds=60,
            actor=Actor.of(place.owner),
        )
    due = (now() - timedelta(minutes=2)).replace(second=0, microsecond=0)
    Schedule.objects.update(next_at=due)
    raised = together(*[recurring] * 6)
    assert raised == [None] * 6
    for schedule in Schedule.objects.all():
        times = list(ScheduleRun.objects.filter(schedule=schedule).values_list("due_at", flat=True))
        assert len(times) == len(set(times)) >= 3
        made = ScheduleRun.objects.filter(schedule=schedule, workload__isnull=False)
        assert made.count() == Workload.objects.filter(name=schedule.name).count() == 1
