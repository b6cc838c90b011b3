"""Policies as written, reminders and escalation by working hours."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import Event, Notice, Request
from pool.services.approvals.policies import approval_policy_set
from pool.services.approvals.reminders import requests_reminded
from pool.services.requests import request_submit
from tests import factories as make

ALWAYS = {"days": [0, 1, 2, 3, 4, 5, 6], "begins": 0, "ends": 24}


def written(world, **words):
    said = {
        "organization": None,
        "steps": [{"role": "lead"}],
        "answer_hours": 8,
        "remind_hours": 4,
        "escalate_hours": 12,
        "calendar": ALWAYS,
        "reason": "as agreed",
        "user": world.platform,
    }
    return approval_policy_set(**(said | words), actor=make.by(world.platform))


def asked(world, **words):
    return request_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        actor=make.by(world.member),
        weights=make.FREE,
        **words,
    )


def waits(request, hours):
    Request.objects.filter(pk=request.pk).update(
        step_since=timezone.now() - timedelta(hours=hours, minutes=1)
    )


def reminders(user):
    return Notice.objects.filter(user=user, kind="reminder").count()


def test_the_written_policy_says_the_steps_and_the_organizations_own_comes_first(world):
    assert asked(world).steps == ["lead"]
    written(world, steps=[{"role": "org_admin"}])
    assert asked(world).steps == ["org_admin"]
    own = [{"role": "lead"}, {"role": "platform_admin", "above": {"days": 1}}]
    written(world, organization=world.organization, steps=own)
    assert asked(world).steps == ["lead"]
    assert asked(world, duration_seconds=2 * 86_400).steps == ["lead", "platform_admin"]


def test_every_version_of_a_policy_stays_with_its_reason(world):
    assert [written(world).number, written(world).number] == [1, 2]
    for wrong in (
        {"reason": ""},
        {"steps": []},
        {"steps": [{"role": "member"}]},
        {"calendar": {"begins": 9, "ends": 9}},
        {"calendar": {"holidays": ["never"]}},
        {"remind_hours": 20},
        {"answer_hours": 0},
    ):
        with pytest.raises(Invalid):
            written(world, **wrong)


def test_the_promise_counts_working_hours(world):
    monday_to_friday = {"begins": 9, "ends": 17}
    written(world, calendar=monday_to_friday)
    promised = asked(world).promised_at.astimezone(UTC)
    assert promised.weekday() < 5
    assert 9 <= promised.hour <= 17


def test_whoever_must_decide_is_reminded_and_then_the_stronger_ones_are_called(world):
    written(world)
    request = asked(world)
    waits(request, 3)
    assert requests_reminded(actor=SYSTEM) == 0
    waits(request, 4)
    assert [requests_reminded(actor=SYSTEM), requests_reminded(actor=SYSTEM)] == [1, 0]
    assert (reminders(world.lead), reminders(world.admin)) == (1, 0)
    waits(request, 12)
    requests_reminded(actor=SYSTEM), requests_reminded(actor=SYSTEM)
    assert reminders(world.admin) == 1
    request.refresh_from_db()
    assert request.escalated_at is not None
    assert Event.objects.filter(kind="request.escalated").count() == 1


def test_nobody_is_reminded_without_end(world):
    written(world)
    request = asked(world)
    waits(request, 1000)
    for _ in range(9):
        requests_reminded(actor=SYSTEM)
    assert (
        Notice.objects.filter(user=world.lead, kind="reminder").values("key").distinct().count()
        == 3
    )


def test_days_off_are_not_counted(world):
    today = timezone.now().date()
    off = [(today - timedelta(days=back)).isoformat() for back in range(5)]
    written(world, calendar=ALWAYS | {"holidays": off})
    request = asked(world)
    waits(request, 20)
    assert requests_reminded(actor=SYSTEM) == 0
    assert datetime.now(UTC) > request.submitted_at
