"""The queue is steered by hand: with a reason, once, and the planner heeds it."""

import pytest

from pool.cycle.round import run_rounds
from pool.errors import IllegalMove, Invalid
from pool.events import SYSTEM
from pool.models import Event, Installation, Workload
from pool.services.queueing.steer import (
    project_queue_hold,
    project_queue_release,
    wait_target_set,
    workload_rank,
)
from pool.services.workloads import workload_hold
from tests import rows
from tests.pool.many import many

pytestmark = pytest.mark.django_db

WHOLE = {"parts": 1, "whole": True}


def events(kind):
    return list(Event.objects.filter(kind=kind).values_list("data", flat=True))


def rank(work, priority="high", reason="a deadline"):
    return workload_rank(workload=work, priority=priority, reason=reason, actor=SYSTEM)


def test_raised_work_goes_before_what_was_there_first():
    rows.partition()
    rows.node()
    into = rows.project()
    first, second = (rows.workload(into=into, need=WHOLE) for _ in range(2))
    rank(second)
    run_rounds()
    states = dict(Workload.objects.values_list("pk", "state"))
    assert (states[first.pk], states[second.pk]) == ("queued", "placed")
    told = events("workload.ranked")
    assert told == [{"before": "normal", "after": "high", "reason": "a deadline"}]


def test_the_same_class_again_changes_and_tells_nothing():
    work = rows.workload()
    rank(work, "normal")
    assert events("workload.ranked") == []


@pytest.mark.parametrize(("priority", "reason"), [("urgent", "why"), ("high", ""), ("high", " ")])
def test_a_strange_class_or_no_reason_is_refused(priority, reason):
    work = rows.workload()
    with pytest.raises(Invalid):
        rank(work, priority, reason)
    work.refresh_from_db()
    assert work.priority == "normal"


def test_what_does_not_wait_cannot_be_raised():
    work = rows.workload(state="succeeded")
    with pytest.raises(IllegalMove):
        rank(work)


def test_a_held_project_starts_nothing_until_it_is_released():
    rows.partition()
    rows.node(cards=2)
    held, other = rows.workload(), rows.workload()
    project_queue_hold(project=held.project, reason="audit", actor=SYSTEM)
    project_queue_hold(project=held.project, reason="again", actor=SYSTEM)
    run_rounds()
    held.refresh_from_db()
    other.refresh_from_db()
    assert (held.state, other.state) == ("queued", "placed")
    assert (held.waits["reason"], held.waits["detail"]) == ("held_back", "project held: audit")
    project_queue_release(project=held.project, actor=SYSTEM)
    project_queue_release(project=held.project, actor=SYSTEM)
    run_rounds()
    held.refresh_from_db()
    assert held.state == "placed"
    assert events("project.queue_held") == [{"reason": "audit"}]
    assert events("project.queue_released") == [{}]


def test_a_project_is_not_held_without_a_reason():
    with pytest.raises(Invalid):
        project_queue_hold(project=rows.project(), reason="", actor=SYSTEM)


def test_the_target_for_waits_is_set_within_bounds_and_told_once():
    for _ in range(2):
        wait_target_set(seconds=600, actor=SYSTEM)
    assert Installation.objects.get().wait_target_s == 600
    assert events("queue.target_changed") == [{"before": 1800, "after": 600}]
    for odd in (0, 59, 31 * 86400):
        with pytest.raises(Invalid):
            wait_target_set(seconds=odd, actor=SYSTEM)


@pytest.mark.parametrize("held", [False, True])
def test_the_pieces_of_an_array_follow_it_on_hold_too(held):
    place = many()
    array = place.submit("0-2")
    if held:
        workload_hold(workload=array, actor=SYSTEM, reason="later", strict=False)
    rank(array, "low")
    pieces = Workload.objects.filter(parent=array)
    assert set(pieces.values_list("priority", flat=True)) == {"low"}
