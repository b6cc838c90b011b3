"""Schedules: made, paused, resumed; each of their times leads to one run or to a why."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.clock import now
from pool.cycle.recurring import recurring
from pool.cycle.round import run_rounds
from pool.errors import Forbidden, IllegalMove, Invalid, NotYours, TooMany
from pool.events import SYSTEM, Actor
from pool.models import (
    Event,
    Membership,
    Quota,
    Request,
    Schedule,
    ScheduleRun,
    Workload,
)
from pool.rules.arrays import Array
from pool.selectors.memberships import standing
from pool.selectors.series.schedules import next_times, schedule_list
from pool.services.decisions import request_approve, request_reject
from pool.services.leases import lease_give_back
from pool.services.series import schedules
from pool.services.series.firing import schedule_fire, schedule_run_now
from pool.services.series.schedules import (
    schedule_change,
    schedule_end,
    schedule_pause,
    schedule_resume,
)
from tests import rows
from tests.pool.many import many, state_of

pytestmark = pytest.mark.django_db


def schedule(place, **words):
    given = {
        "user": place.owner,
        "project": place.project,
        "template_version": place.version,
        "command": ["python3", "nightly.py"],
        "name": "nightly",
        "cron": "0 2 * * *",
        "expected_seconds": 60,
        "weights": {"cost": 0},
        "actor": Actor.of(place.owner),
    }
    return schedules.schedule_create(**given | words)


def due(row, **ago):
    """Its time has come so long ago, whatever its line says; lines of a minute fill the rest."""
    Schedule.objects.filter(pk=row.pk).update(
        next_at=(now() - timedelta(**ago)).replace(second=0, microsecond=0)
    )


def history(row):
    return [(one.outcome, one.why) for one in ScheduleRun.objects.order_by("due_at", "pk")]


def approve(place):
    request = Request.objects.get()
    lead = rows.member(place.project, "lead")
    request_approve(request=request, user=lead, revision=request.revision, actor=Actor.of(lead))
    return request.lease


def test_a_schedule_inside_the_allowance_asks_nobody_and_knows_its_next_times():
    place = many()
    row = schedule(place)
    assert (row.state, row.request) == ("active", None)
    found = next_times(schedule=row)
    assert len(found) == 5
    assert found[0] == row.next_at
    assert {(one.hour, one.minute) for one in found} == {(2, 0)}
    assert Event.objects.last().kind == "schedule.created"


def test_its_times_are_meant_in_the_organizations_zone():
    place = many()
    place.project.organization.zone = "Asia/Shanghai"
    place.project.organization.save()
    assert schedule(place).next_at.hour == 18


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"cron": "every day"}, "cron"),
        ({"overlap": "both"}, "overlap"),
        ({"missed": "all"}, "missed"),
        ({"command": []}, "command"),
        ({"expected_seconds": 0}, "expected_seconds"),
    ],
)
def test_wrong_words_are_refused(words, field):
    with pytest.raises(Invalid) as refused:
        schedule(many(), **words)
    assert list(refused.value.detail) == [field]
    assert not Schedule.objects.exists()


def test_a_member_has_a_most_number_of_schedules(monkeypatch):
    monkeypatch.setattr(schedules, "MOST_SCHEDULES", 1)
    place = many()
    first = schedule(place)
    with pytest.raises(TooMany):
        schedule(place)
    schedule_end(schedule=first, actor=SYSTEM)
    schedule(place)


def test_a_time_that_has_come_becomes_one_run():
    place = many()
    row = schedule(place, cron="* * * * *", files={"nightly.py": "pass"}, runs=2)
    due(row, minutes=0)
    assert recurring().handled == 1
    assert recurring().handled == 0
    made = Workload.objects.get()
    assert (made.name, made.state, made.runs_left) == ("nightly", "queued", 2)
    assert (made.command, made.files) == (row.command, row.files)
    assert history(row) == [("started", "")]
    row.refresh_from_db()
    assert row.next_at > now()


def test_of_times_the_pool_was_away_for_the_policy_runs_one_or_none():
    place = many()
    half_past = (now() + timedelta(minutes=30)).minute  # its last time is never a fresh one
    row = schedule(place, cron=f"{half_past} * * * *")
    due(row, hours=3)
    recurring()
    assert [one for one, _ in history(row)] == ["missed"] * 3
    assert not Workload.objects.exists()
    schedule_change(schedule=row, user=place.owner, actor=SYSTEM, missed="once")
    ScheduleRun.objects.all().delete()
    due(row, hours=3)
    recurring()
    assert [one for one, _ in history(row)] == ["missed", "missed", "started"]
    assert Workload.objects.count() == 1


@pytest.mark.parametrize(
    ("overlap", "outcome", "states"),
    [
        ("skip", "skipped", ["queued"]),
        ("queue", "started", ["queued", "queued"]),
        ("replace", "started", ["cancelled", "queued"]),
    ],
)
def test_a_run_that_still_lives_is_met_by_the_policy(overlap, outcome, states):
    place = many()
    row = schedule(place, cron="* * * * *", overlap=overlap)
    for _ in range(2):
        ScheduleRun.objects.update(due_at=now() - timedelta(hours=1))
        due(row, minutes=0)
        schedule_fire(schedule_id=row.pk)
    assert [one for one, _ in history(row)] == ["started", outcome]
    assert list(Workload.objects.order_by("pk").values_list("state", flat=True)) == states
    if overlap == "queue":
        place.step()
        assert list(Workload.objects.order_by("pk").values_list("state", flat=True)) == [
            "running",
            "queued",
        ]


def test_a_paused_schedule_lets_its_times_pass():
    place = many()
    row = schedule(place, cron="* * * * *")
    schedule_pause(schedule=row, actor=SYSTEM, reason="moving the data")
    row.refresh_from_db()
    assert (row.state, row.next_at, row.state_reason) == ("paused", None, "moving the data")
    assert recurring().handled == 0
    assert next_times(schedule=row) == []
    schedule_resume(schedule=row, user=place.owner, actor=SYSTEM)
    row.refresh_from_db()
    assert (row.state, row.state_reason) == ("active", "")
    assert row.next_at > now()


def test_one_request_is_for_all_its_runs():
    place = many(allowance=0)
    row = schedule(place, cron="* * * * *")
    request = Request.objects.get()
    assert (row.request, request.copies, request.duration_seconds) == (request, 1, 7 * 86_400)
    due(row, minutes=0)
    recurring()
    assert history(row) == [("refused", "its request is not decided yet")]
    lease = approve(place)
    ScheduleRun.objects.all().delete()
    due(row, minutes=0)
    recurring()
    made = Workload.objects.get()
    assert (made.lease, made.state, Request.objects.count()) == (lease, "queued", 1)


def test_a_request_that_was_refused_pauses_it_and_resuming_asks_anew():
    place = many(allowance=0)
    row = schedule(place, cron="* * * * *")
    request = Request.objects.get()
    lead = rows.member(place.project, "lead")
    request_reject(
        request=request,
        user=lead,
        revision=request.revision,
        reason="not now",
        actor=Actor.of(lead),
    )
    due(row, minutes=0)
    recurring()
    row.refresh_from_db()
    assert (row.state, row.state_reason) == ("paused", "its request was not granted")
    schedule_resume(schedule=row, user=place.owner, actor=SYSTEM, weights={"cost": 0})
    assert Request.objects.count() == 2


def test_an_end_of_its_lease_pauses_it():
    place = many(allowance=0)
    row = schedule(place, cron="* * * * *")
    lease_give_back(lease=approve(place), actor=SYSTEM)
    due(row, minutes=0)
    recurring()
    row.refresh_from_db()
    assert row.state == "paused"
    assert "lease" in row.state_reason


def test_a_run_never_opens_a_request_of_its_own():
    place = many()
    row = schedule(place, cron="* * * * *")
    Quota.objects.all().delete()
    due(row, minutes=0)
    recurring()
    row.refresh_from_db()
    assert row.state == "paused"
    assert history(row)[0][0] == "refused"
    assert not Workload.objects.exists()
    assert not Request.objects.exists()


def test_a_schedule_whose_owner_leaves_is_paused_and_goes_over_to_who_resumes_it():
    place = many()
    row = schedule(place, cron="* * * * *")
    Membership.objects.filter(user=place.owner).delete()
    assert recurring().paused == 1
    row.refresh_from_db()
    assert (row.state, row.state_reason) == ("paused", "its owner left the project")
    lead = rows.member(place.project, "lead")
    schedule_resume(schedule=row, user=lead, actor=SYSTEM)
    row.refresh_from_db()
    assert (row.state, row.owner) == ("active", lead)
    lead.is_active = False
    lead.save()
    assert recurring().paused == 1


def test_a_refused_run_says_why_and_the_next_time_comes():
    place = many()
    row = schedule(place, cron="* * * * *")
    place.project.suspended = True
    place.project.suspended_reason = "the budget is spent"
    place.project.save()
    due(row, minutes=0)
    recurring()
    outcome, why = history(row)[0]
    assert (outcome, "budget is spent" in why) == ("refused", True)
    row.refresh_from_db()
    assert row.state == "active"


def test_a_run_by_hand_is_one_of_its_history():
    place = many()
    row = schedule(place, cron="0 2 * * *")
    run = schedule_run_now(schedule=row, actor=Actor.of(place.owner))
    assert (run.outcome, state_of(run.workload)) == ("started", "queued")
    schedule_end(schedule=row, actor=SYSTEM)
    with pytest.raises(IllegalMove):
        schedule_run_now(schedule=row, actor=SYSTEM)


def test_an_array_can_be_scheduled():
    place = many()
    row = schedule(place, cron="* * * * *", array=Array("0-4", 2))
    due(row, minutes=0)
    recurring()
    made = Workload.objects.get(parent=None)
    assert (made.array_size, made.array_throttle) == (5, 2)


def test_only_what_needs_no_new_request_can_be_changed():
    place = many()
    row = schedule(place)
    changed = schedule_change(
        schedule=row, user=place.owner, actor=SYSTEM, cron="30 4 * * *", name="early"
    )
    assert (changed.name, changed.next_at.hour, changed.next_at.minute) == ("early", 4, 30)
    with pytest.raises(Invalid):
        schedule_change(schedule=row, user=place.owner, actor=SYSTEM, cron="nonsense")
    schedule_end(schedule=row, actor=SYSTEM)
    with pytest.raises(IllegalMove):
        schedule_change(schedule=row, user=place.owner, actor=SYSTEM, name="late")
    with pytest.raises(IllegalMove):
        schedule_resume(schedule=row, user=place.owner, actor=SYSTEM)
    assert schedule_end(schedule=row, actor=SYSTEM).state == "ended"
    Schedule.objects.all().delete()
    with pytest.raises(NotYours):
        schedule_pause(schedule=row, actor=SYSTEM)


@pytest.mark.parametrize(
    "words", [{"command": ["sh"]}, {"env": {"A": "b"}}, {"files": {"a": "b"}}, {"name": "mine"}]
)
def test_nobody_but_its_owner_changes_what_runs_under_the_owners_account(words):
    place = many()
    row = schedule(place)
    lead = rows.member(place.project, "lead")
    with pytest.raises(Forbidden):
        schedule_change(schedule=row, user=lead, actor=Actor.of(lead), cron="1 1 * * *", **words)
    row.refresh_from_db()
    assert (row.command, row.cron) == (["python3", "nightly.py"], "0 2 * * *")
    assert (
        schedule_change(schedule=row, user=lead, actor=SYSTEM, overlap="queue").overlap == "queue"
    )


def test_a_run_that_replaces_waits_for_every_run_that_still_lives():
    place = many()
    row = schedule(place, cron="* * * * *", overlap="replace")
    first = schedule_run_now(schedule=row, actor=SYSTEM).workload
    place.step()
    assert state_of(first) == "running"
    second, third = (schedule_run_now(schedule=row, actor=SYSTEM).workload for _ in range(2))
    assert [state_of(one) for one in (first, second, third)] == ["stopping", "cancelled", "queued"]
    run_rounds()
    assert (state_of(first), state_of(third)) == ("stopping", "queued")


def test_a_time_that_was_handled_before_does_not_stop_the_times_after_it():
    place = many()
    row = schedule(place, cron="* * * * *")
    for _ in range(2):
        due(row, minutes=0)
        schedule_fire(schedule_id=row.pk)
    assert [one for one, _ in history(row)] == ["started"]
    row.refresh_from_db()
    assert row.next_at > now()


@pytest.mark.parametrize("how", ["fire", "now", "resume"])
def test_the_project_is_locked_before_the_schedule(how):
    place = many()
    row = schedule(place, cron="* * * * *")
    if how == "resume":
        schedule_pause(schedule=row, actor=SYSTEM)
    else:
        due(row, minutes=0)
    with CaptureQueriesContext(connection) as seen:
        if how == "fire":
            schedule_fire(schedule_id=row.pk)
        elif how == "now":
            schedule_run_now(schedule=row, actor=SYSTEM)
        else:
            schedule_resume(schedule=row, user=place.owner, actor=SYSTEM)
    locks = [q["sql"] for q in seen.captured_queries if " FOR " in q["sql"]]
    tables = [sql.split(' FROM "')[1].split('"')[0] for sql in locks]
    assert tables.index("pool_project") < tables.index("pool_schedule")


def test_others_do_not_see_it():
    place = many()
    row = schedule(place)
    stranger = rows.member(rows.project())
    assert list(schedule_list(standing=standing(user=place.owner))) == [row]
    assert not schedule_list(standing=standing(user=stranger)).exists()
