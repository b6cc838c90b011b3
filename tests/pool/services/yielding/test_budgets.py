"""Critical work: only with a budget, and no more than it holds."""

from datetime import date

import pytest

from pool.clock import now
from pool.errors import Invalid
from pool.models import Event, Workload
from pool.selectors.critical import critical_promised_s, critical_used_s
from pool.services.workloads import workload_resume, workload_retry, workload_submit
from pool.services.yielding.asked import workload_declare
from pool.services.yielding.budgets import critical_budget_set
from tests.factories import World, allowance, by

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(db):
    made = World()
    allowance(made.project, made.partition, 8)
    return made


def this_month():
    return now().date().replace(day=1)


def grant(world, hours, month=None):
    return critical_budget_set(
        organization=world.organization,
        month=month or this_month(),
        card_hours=hours,
        actor=by(world.platform),
    )


def submit(world, seconds=3600, **words):
    return workload_submit(
        user=world.member,
        project=world.project,
        template_version=world.whole,
        command=["true"],
        expected_seconds=seconds,
        priority="critical",
        actor=by(world.member),
        **words,
    )


def test_without_a_budget_nobody_submits_critical_work(world):
    with pytest.raises(Invalid) as refused:
        submit(world)
    assert "priority" in refused.value.detail
    assert Workload.objects.count() == 0


def test_within_the_budget_it_is_queued_and_its_hours_are_promised(world):
    grant(world, 3)
    submit(world)
    assert critical_promised_s(organization_id=world.organization.pk) == pytest.approx(3600)
    submit(world, 7200)
    with pytest.raises(Invalid) as refused:
        submit(world)
    (said,) = refused.value.detail["priority"]
    assert "3.0" in said and "1.0" in said


def test_declaring_more_time_is_asked_of_the_budget_and_less_is_not(world):
    grant(world, 3)
    work = submit(world, 3600)
    actor = by(world.member)
    workload_declare(workload=work, expected_seconds=3 * 3600, actor=actor)
    with pytest.raises(Invalid) as refused:
        workload_declare(workload=work, expected_seconds=3 * 3600 + 60, actor=actor)
    assert "priority" in refused.value.detail
    grant(world, 0)
    workload_declare(workload=work, expected_seconds=60, actor=actor)
    work.refresh_from_db()
    assert work.expected_seconds == 60


@pytest.mark.parametrize(
    ("state", "again"), [("failed", workload_retry), ("stopped", workload_resume)]
)
def test_work_that_goes_on_asks_the_budget_again(world, state, again):
    grant(world, 2)
    work = submit(world)
    Workload.objects.filter(pk=work.pk).update(state=state, ended_at=now(), stop_reason="")
    work.refresh_from_db()
    grant(world, 0)
    with pytest.raises(Invalid) as refused:
        again(workload=work, actor=by(world.member))
    assert "priority" in refused.value.detail
    grant(world, 2)
    assert again(workload=work, actor=by(world.member)).state == "queued"


def test_a_grant_taken_back_refuses_what_comes_later(world):
    grant(world, 3)
    submit(world)
    grant(world, 0)
    with pytest.raises(Invalid):
        submit(world)
    assert Workload.objects.get().priority == "critical"


def test_every_grant_is_an_event_of_its_organization(world):
    grant(world, 3)
    event = Event.objects.get(kind="critical_budget.set")
    assert (event.data["card_hours"], event.subject) == (
        3,
        f"organization:{world.organization.uid}",
    )


@pytest.mark.parametrize("month", [date(2020, 1, 1), date(2999, 1, 2)])
def test_only_a_month_to_come_can_be_granted(world, month):
    with pytest.raises(Invalid):
        grant(world, 1, month)


def test_nothing_is_used_before_a_month_begins(world):
    assert critical_used_s(organization_id=world.organization.pk, month=date(2999, 1, 1)) == 0.0
