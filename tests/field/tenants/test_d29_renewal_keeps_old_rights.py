"""D29: asking to renew or enlarge takes nothing away before it is decided; unanswered, the lease
ends as it would have."""

from datetime import timedelta

import pytest
from django.utils import timezone

from pool.cycle.expire import expire
from pool.models import Lease, Membership, Request, TemplateVersion, User, Workload
from pool.services.approvals.reminders import leases_spoken_of
from pool.services.decisions import request_approve
from pool.services.extensions import lease_extension_ask, lease_resize_ask
from pool.services.people.groups import directory_read, group_role_set
from pool.services.requests import request_submit
from pool.services.workloads import workload_submit
from tests import factories as make


@pytest.fixture
def world(db):
    return make.World()


@pytest.fixture
def lease(world):
    request = request_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        actor=make.by(world.member),
        weights=make.FREE,
        copies=2,
        duration_seconds=5 * 86_400,
    )
    return request_approve(request=request, user=world.lead, actor=make.by(world.lead)).lease


def work(world, lease):
    return workload_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        command=["true"],
        actor=make.by(world.member),
        lease=lease,
    )


def renewed(world, lease):
    return lease_extension_ask(
        lease=lease,
        user=world.member,
        seconds=86_400,
        actor=make.by(world.member),
        weights=make.FREE,
    )


def enlarged(world, lease):
    return lease_resize_ask(
        lease=lease, user=world.member, copies=3, actor=make.by(world.member), weights=make.FREE
    )


def synced(world):
    """The nightly reading of the directory, from which the member's role comes."""
    Membership.objects.filter(user=world.member).update(source="ldap")
    User.objects.filter(pk=world.member.pk).update(source="ldap")
    by = make.by(world.platform)
    words = {"source": "ldap", "group": "vision", "role": "member", "project": world.project}
    group_role_set(actor=by, **words)
    directory_read(source="ldap", people={world.member.username: ["vision"]}, actor=by)
    assert Membership.objects.filter(user=world.member, project=world.project).count() == 1


@pytest.mark.parametrize("kind", ["job", "notebook"])
@pytest.mark.parametrize("ask", [renewed, enlarged])
@pytest.mark.handmade_books
def test_old_rights_hold_until_the_old_end_and_then_it_expires_as_normal(world, lease, ask, kind):
    TemplateVersion.objects.filter(pk=world.finetune.pk).update(kind=kind)
    world.finetune.refresh_from_db()
    end = lease.valid.upper
    request = ask(world, lease)
    expire(), leases_spoken_of(actor=make.by(world.platform))
    synced(world)
    lease.refresh_from_db()
    assert (lease.state, lease.valid.upper, lease.copies) == ("active", end, 2)
    running, waiting = work(world, lease), work(world, lease)
    assert {running.state, waiting.state} == {"queued"}
    assert running.kind == kind
    Workload.objects.filter(pk=running.pk).update(state="running")

    gone = timezone.now() - timedelta(seconds=1)
    Lease.objects.filter(pk=lease.pk).update(valid=(gone - timedelta(days=5), gone))
    expire()
    lease.refresh_from_db(), running.refresh_from_db(), waiting.refresh_from_db()
    request.refresh_from_db()
    assert (lease.state, request.state) == ("ending", "submitted")
    assert (running.state, running.priority, running.preemptible) == ("running", "low", True)
    assert waiting.state == "cancelled"
    assert timedelta(hours=23) < lease.deadline - timezone.now() <= timedelta(hours=24)
    assert Lease.objects.count() == 1


@pytest.mark.handmade_books
def test_a_late_yes_opens_a_new_lease_that_carries_what_still_runs(world, lease):
    running = work(world, lease)
    Workload.objects.filter(pk=running.pk).update(state="running")
    request = renewed(world, lease)
    gone = timezone.now() - timedelta(hours=1)
    Lease.objects.filter(pk=lease.pk).update(valid=(gone - timedelta(days=5), gone))
    Request.objects.filter(pk=request.pk).update(starts_at=gone)
    expire()
    new = request_approve(request=request, user=world.lead, actor=make.by(world.lead)).lease
    assert (new.state, new.pk == lease.pk) == ("active", False)
    Lease.objects.filter(pk=lease.pk).update(deadline=timezone.now())
    expire()
    running.refresh_from_db(), lease.refresh_from_db()
    assert (running.state, running.lease, lease.state) == ("running", new, "ended")
