"""What time ends: work under a lease that is over, and stops that were on their way back."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle.expire import expire
from pool.cycle.round import run_rounds
from pool.cycle.watch import watch
from pool.events import SYSTEM
from pool.models import Lease, Slice, Workload
from pool.services.decisions import request_approve
from pool.services.requests import request_submit
from pool.services.workloads import workload_hold, workload_stop, workload_submit
from tests import factories as make
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db


@pytest.fixture
def node():
    rows.partition()
    return Obedient(rows.node())


@pytest.fixture
def world():
    """One project with people, eight cards and three templates."""
    return make.World()


def seen(row):
    row.refresh_from_db()
    return row


def giving_up_its_start(**given):
    """Work whose slice is never made: it is being stopped, to start again."""
    work = rows.workload(**given)
    run_rounds()
    Slice.objects.update(deadline=now() - timedelta(seconds=1))
    watch()
    assert (seen(work).state, work.stop_reason) == ("stopping", "start_failed")
    return work


def clean(node):
    """The node hears the wish, and tells that nothing of it is there."""
    node.pull()
    node.slices = {}
    node.tell()


def leased(world, **words):
    """A lease of one copy with one piece of queued work."""
    request = request_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        actor=make.by(world.member),
        weights=make.FREE,
        **words,
    )
    lease = request_approve(request=request, user=world.lead, actor=make.by(world.lead)).lease
    work = workload_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        command=["true"],
        actor=make.by(world.member),
        lease=lease,
        expected_seconds=7200,
    )
    return lease, work


def over(lease):
    """The lease's grace is over, while its work waits."""
    Lease.objects.filter(pk=lease.pk).update(state="ending", deadline=now(), entitled=[])


def test_a_cancel_that_meets_a_start_being_given_up_is_kept(node):
    work = giving_up_its_start()
    stopped = workload_stop(workload=work, actor=SYSTEM, message="enough")
    assert (stopped.state, stopped.stop_reason) == ("stopping", "cancelled")
    clean(node)
    assert (seen(work).state, work.starts_left) == ("cancelled", 3)
    run_rounds()
    assert seen(work).state == "cancelled"


def test_without_a_cancel_a_start_given_up_is_tried_again(node):
    work = giving_up_its_start()
    clean(node)
    assert seen(work).state == "queued"


def test_the_end_of_a_lease_overrules_a_stop_on_its_way_back(world):
    lease, waiting = leased(world)
    workload_stop(workload=waiting, actor=SYSTEM)
    work = giving_up_its_start(lease=lease, into=world.project)
    over(lease)
    expire()
    assert (seen(work).state, work.stop_reason) == ("stopping", "limit")
    clean(Obedient(world.node))
    assert seen(work).state == "expired"


@pytest.mark.parametrize("held_back", [False, True])
def test_work_that_waits_under_a_lease_that_has_ended_expires_and_says_why(world, held_back):
    lease, work = leased(world)
    if held_back:
        workload_hold(workload=work, actor=SYSTEM)
    over(lease)
    expire()
    assert seen(lease).state == "ended"
    assert (seen(work).state, work.ended_at is not None) == ("expired", True)
    assert "lease has ended" in work.message
    assert not Workload.objects.filter(state__in=["queued", "on_hold"]).exists()


@pytest.mark.parametrize("held_back", [False, True])
def test_it_goes_on_in_the_allowance_when_it_fits_there(world, held_back):
    lease, work = leased(world)
    if held_back:
        workload_hold(workload=work, actor=SYSTEM)
    make.allowance(world.project, world.partition, 1)
    over(lease)
    expire()
    state = "on_hold" if held_back else "queued"
    assert (seen(work).state, work.entitlement, work.lease) == (state, "allowance", None)
    expire()
    assert seen(work).state == state


def test_a_suspended_projects_work_does_not_slip_into_its_allowance(world):
    lease, work = leased(world)
    make.allowance(world.project, world.partition, 1)
    type(world.project).objects.update(suspended=True)
    over(lease)
    expire()
    assert seen(work).state == "expired"
