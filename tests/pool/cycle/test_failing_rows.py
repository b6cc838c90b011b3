"""One plan, person, project, lease or letter that fails keeps no other from its turn."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle import expire as expiring
from pool.cycle.departures import departures
from pool.cycle.expire import expire
from pool.cycle.quotatree import targets
from pool.cycle.quotatree.targets import books_tended, plans_due
from pool.cycle.round import run_rounds
from pool.errors import Invalid
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaUnit
from pool.models import Lease, PlannedQuota, User, Workload
from pool.services.decisions import request_approve
from pool.services.people import leavers
from pool.services.people.leavers import user_leave
from pool.services.quotas import QuotaLine
from pool.services.quotatree import planned
from pool.services.quotatree.planned import quota_plan
from pool.services.requests import request_submit
from pool.services.workloads import workload_submit
from tests import factories as make
from tests import rows
from tests.pool.place import settled

pytestmark = pytest.mark.django_db


def fails(*args, **given):
    raise Invalid(odd="this row is odd")


def first_fails(real):
    """The same function, which refuses its first caller."""
    calls = []

    def act(*args, **given):
        calls.append(args)
        return fails() if len(calls) == 1 else real(*args, **given)

    return act


def over(lease):
    """A lease whose day of grace is over while its work still runs."""
    Lease.objects.filter(pk=lease.pk).update(state="ended", deadline=None)


def test_work_under_an_ended_lease_is_stopped_though_no_letter_can_be_written(monkeypatch):
    world = make.World()
    request = request_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        actor=make.by(world.member),
        weights=make.FREE,
    )
    lease = request_approve(request=request, user=world.lead, actor=make.by(world.lead)).lease
    workload_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        command=["true"],
        actor=make.by(world.member),
        lease=lease,
    )
    run_rounds()
    work = Workload.objects.get()
    assert work.state == "placed"
    over(lease)
    for name in ("leases_ending_due", "leases_spoken_of", "requests_reminded"):
        monkeypatch.setattr(expiring, name, fails)
    assert expire().stopped == 1
    assert Workload.objects.get(pk=work.pk).state == "stopping"


def test_a_planned_change_that_cannot_be_made_leaves_the_next_its_turn(monkeypatch):
    place = settled()
    for limit in (1_000_000, 2_000_000):
        line = QuotaLine(
            tenant=place.into,
            partition=place.quota.partition,
            unit=QuotaUnit.CARDS_MICRO,
            limit=limit,
        )
        at = now() - timedelta(minutes=1)
        quota_plan(line=line, does="set", starts_at=at, reason="Because.", actor=SYSTEM)
    monkeypatch.setattr(planned, "quotas_set", first_fails(planned.quotas_set))
    assert plans_due() == 1
    assert sorted(PlannedQuota.objects.values_list("state", flat=True)) == ["ahead", "done"]
    assert plans_due() == 1
    assert set(PlannedQuota.objects.values_list("state", flat=True)) == {"done"}


def test_a_look_for_drift_that_fails_leaves_months_and_cut_backs_their_turn(monkeypatch):
    place = settled()
    rows.quota(
        limit=1000,
        unit=QuotaUnit.CARD_SECONDS,
        project=place.into,
        partition=place.quota.partition,
    )
    monkeypatch.setattr(targets, "drifts_swept", fails)
    assert books_tended().periods == 1


def test_a_person_who_cannot_be_wound_down_keeps_no_other(monkeypatch):
    world = make.World()
    for user in (world.member, world.lead):
        user_leave(user=user, actor=SYSTEM)
    monkeypatch.setattr(leavers, "work_open", first_fails(leavers.work_open))
    assert departures().people == 1
    assert departures().people == 1
    assert not User.objects.filter(winds_down_at__isnull=False).exists()
