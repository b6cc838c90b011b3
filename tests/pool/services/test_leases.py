"""Leases: given back, ended by the clock, and what becomes of the work under them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from pool.errors import IllegalMove, Invalid, NotYours
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaKind
from pool.models import Event, Lease, Request, Workload
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


def test_an_extension_is_a_request_and_the_yes_makes_the_same_lease_longer(world, lease):
    request = lease_extension_ask(
        lease=lease,
        user=world.member,
        seconds=3600,
        purpose="two more epochs",
        actor=make.by(world.member),
        weights=make.FREE,
    )
    assert (request.state, request.copies, request.duration_seconds) == ("submitted", 2, 3600)
    assert (request.starts_at, request.alters) == (lease.valid.upper, lease)
    assert request.need == lease.need
    assert request.entitled == []
    before = lease.valid
    request_approve(request=request, user=world.lead, actor=make.by(world.lead))
    lease.refresh_from_db()
    assert lease.valid.upper == before.upper + timedelta(hours=1)
    assert Lease.objects.count() == 1
    assert Event.objects.filter(kind="lease.extended", subject=f"lease:{lease.uid}").count() == 1


@pytest.mark.handmade_books
def test_an_extension_carries_on_what_runs_and_what_waits(world, lease):
    running, waiting = work(world, lease=lease), work(world, lease=lease)
    Workload.objects.filter(pk=running.pk).update(state="running", priority="high")
    asked = {"lease": lease, "user": world.member, "seconds": 90_000, "weights": make.FREE}
    request = lease_extension_ask(**asked, actor=make.by(world.member))
    request_approve(request=request, user=world.lead, actor=make.by(world.lead))
    lease.refresh_from_db()
    long_ago(lease, 1)
    assert leases_ending_due(actor=SYSTEM) == 0
    running.refresh_from_db(), waiting.refresh_from_db()
    assert {running.lease, waiting.lease} == {lease}
    assert (running.state, running.priority, waiting.state) == ("running", "high", "queued")


@pytest.mark.handmade_books
def test_an_extension_approved_within_the_grace_still_carries_what_runs(world, lease):
    running = work(world, lease=lease)
    Workload.objects.filter(pk=running.pk).update(state="running")
    asked = {"lease": lease, "user": world.member, "seconds": 90_000, "weights": make.FREE}
    request = lease_extension_ask(**asked, actor=make.by(world.member))
    long_ago(lease, 2)
    Request.objects.filter(pk=request.pk).update(starts_at=timezone.now() - timedelta(days=1))
    leases_ending_due(actor=SYSTEM)
    longer = request_approve(request=request, user=world.lead, actor=make.by(world.lead)).lease
    Lease.objects.filter(pk=lease.pk).update(deadline=timezone.now())
    assert leases_ended_due(actor=SYSTEM) == []
    running.refresh_from_db()
    assert running.lease == longer


@pytest.mark.handmade_books
def test_what_the_other_lease_has_no_copy_for_ends_as_before(world, lease):
    work(world, lease=lease), work(world, lease=lease)
    Workload.objects.update(state="running")
    other = request_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        actor=make.by(world.member),
        weights=make.FREE,
        duration_seconds=3600,
    )
    other = request_approve(request=other, user=world.lead, actor=make.by(world.lead)).lease
    lease_give_back(lease=lease, actor=make.by(world.member))
    carried, left = Workload.objects.order_by("pk")
    assert (carried.lease, carried.preemptible) == (other, False)
    assert (left.lease, left.priority, left.preemptible) == (lease, "low", True)


@pytest.mark.parametrize(
    "need",
    [
        {"cpu_milli": 128_000},
        {"ram_mib": 1_000_000},
        {"disk_mib": 8_000_000},
        {"models": ["H100-80GB"]},
        {"vendors": ["amd", "nvidia"]},
    ],
)
def test_a_lease_binds_the_host_and_the_kind_of_card_too(world, lease, need):
    make.partition("h100", labels=("H100-80GB",), rank=200)
    make.node("n2", (("H100-80GB", 4),))
    given = {"models": ["A100-80GB"], "vendors": ["nvidia"]}
    Lease.objects.update(need=lease.need | {"labels": given["models"], "vendors": ["nvidia"]})
    with pytest.raises(Invalid, match="larger than the lease"):
        work(world, lease=lease, need=given | need)
    assert work(world, need=given | need).state == "awaiting_approval"
    assert work(world, lease=lease, need=given | {"cpu_milli": 1000}).lease == lease
    assert work(world, lease=lease, need=given).lease == lease
