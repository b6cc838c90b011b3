"""Leases: given back, ended by the clock, and what becomes of the work under them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from pool.errors import IllegalMove, Invalid, NotYours
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaKind
from pool.models import Event, Lease, Workload
from pool.services.decisions import request_approve
from pool.services.extensions import lease_extension_ask
from pool.services.leases import (
    lease_end_now,
    lease_give_back,
    leases_ended_due,
    leases_ending_due,
)
from pool.services.requests import request_submit
from pool.services.workloads import workload_submit
from tests import factories as make


@pytest.fixture
def lease(world):
    """A day's lease of two copies."""
    request = request_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        actor=make.by(world.member),
        weights=make.FREE,
        copies=2,
        duration_seconds=86_400,
    )
    return request_approve(request=request, user=world.lead, actor=make.by(world.lead)).lease


def work(world, **words):
    return workload_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        command=["true"],
        actor=make.by(world.member),
        weights=make.FREE,
        **words,
    )


def long_ago(lease, days):
    """Move a lease so far into the past."""
    back = timedelta(days=days)
    begun, over = lease.valid.lower - back, lease.valid.upper - back
    Lease.objects.filter(pk=lease.pk).update(valid=(begun, over))


@pytest.mark.handmade_books
def test_giving_back_cancels_what_waits_and_lets_what_runs_go_on_as_low(world, lease):
    waiting, running = work(world, lease=lease), work(world, lease=lease)
    Workload.objects.filter(pk=running.pk).update(priority="high")
    Workload.objects.filter(pk=running.pk).update(state="unreachable", deadline=timezone.now())
    for _ in range(2):
        given = lease_give_back(lease=lease, actor=make.by(world.member))
    assert given.state == "ending"
    waiting.refresh_from_db(), running.refresh_from_db()
    assert (waiting.state, waiting.message) == ("cancelled", "given back")
    assert (running.state, running.priority, running.preemptible) == ("unreachable", "low", True)
    assert Event.objects.filter(kind="lease.ending").count() == 1


def test_a_lease_ends_a_day_after_its_time(world, lease):
    assert leases_ending_due(actor=SYSTEM) == 0
    long_ago(lease, 2)
    assert leases_ending_due(actor=SYSTEM) == 1
    assert leases_ending_due(actor=SYSTEM) == 0
    lease.refresh_from_db()
    grace = lease.deadline - timezone.now()
    assert timedelta(hours=23) < grace <= timedelta(hours=24)
    assert leases_ended_due(actor=SYSTEM) == []
    Lease.objects.update(deadline=timezone.now())
    leases_ended_due(actor=SYSTEM)
    lease.refresh_from_db()
    assert lease.state == "ended"


def test_the_entitlement_comes_back_when_a_lease_begins_to_end(world):
    row = make.quota(world.project, world.partition, 2, kind=QuotaKind.ENTITLEMENT)
    request = request_submit(
        user=world.member,
        project=world.project,
        template_version=world.whole,
        actor=make.by(world.member),
        weights=make.FREE,
        copies=2,
    )
    lease = request_approve(request=request, user=world.lead, actor=make.by(world.lead)).lease
    row.refresh_from_db()
    assert row.held == 2_000_000
    lease_give_back(lease=lease, actor=make.by(world.member))
    row.refresh_from_db()
    assert row.held == 0


def test_nothing_new_starts_under_a_lease_that_is_over(world, lease):
    lease_give_back(lease=lease, actor=make.by(world.member))
    with pytest.raises(Invalid, match="not in force"):
        work(world, lease=lease)
    assert work(world).state == "awaiting_approval"


def test_a_lease_in_force_is_not_ended_at_once(world, lease):
    with pytest.raises(IllegalMove):
        lease_end_now(lease=lease, actor=SYSTEM, reason="no")
    with pytest.raises(NotYours):
        lease_give_back(lease=Lease(pk=999), actor=SYSTEM)


def test_an_extension_is_a_request_that_begins_where_the_lease_ends(world, lease):
    request = lease_extension_ask(
        lease=lease,
        user=world.member,
        seconds=3600,
        purpose="two more epochs",
        actor=make.by(world.member),
        weights=make.FREE,
    )
    assert (request.state, request.copies, request.duration_seconds) == ("submitted", 2, 3600)
    assert request.starts_at == lease.valid.upper
    assert request.need == lease.need
    longer = request_approve(request=request, user=world.lead, actor=make.by(world.lead)).lease
    assert longer.valid.lower == lease.valid.upper
