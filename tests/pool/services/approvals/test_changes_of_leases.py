"""More time, another size, a recall: nothing changes before the yes, and each is told."""

from datetime import timedelta

import pytest
from django.utils import timezone

from pool.errors import IllegalMove, Invalid, QuotaExceeded
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaKind
from pool.models import Lease, Notice, Quota, Workload
from pool.services.approvals.reminders import leases_spoken_of
from pool.services.decisions import request_approve, request_reject
from pool.services.extensions import lease_extension_ask, lease_resize_ask
from pool.services.leases import lease_recall, leases_ending_due
from pool.services.requests import request_edit, request_submit, request_withdraw
from pool.services.workloads import workload_submit
from tests import factories as make

DAY = 86_400


@pytest.fixture
def lease(world):
    """A lease of two copies for a week, in a project entitled to three copies and a bit."""
    make.quota(world.project, world.partition, 0.85, kind=QuotaKind.ENTITLEMENT)
    request = request_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        actor=make.by(world.member),
        weights=make.FREE,
        copies=2,
        duration_seconds=7 * DAY,
    )
    return request_approve(request=request, user=world.lead, actor=make.by(world.lead)).lease


def held() -> int:
    return Quota.objects.get(kind="entitlement").held


def asked(world, lease, ask, **words):
    who = {"user": world.member, "actor": make.by(world.member), "weights": make.FREE}
    return ask(lease=lease, **who, **words)


def yes(world, request):
    return request_approve(request=request, user=world.lead, actor=make.by(world.lead))


def test_more_time_takes_no_more_of_the_entitlement(world, lease):
    before = held()
    request = asked(world, lease, lease_extension_ask, seconds=DAY)
    assert held() == before
    yes(world, request)
    assert held() == before


def test_one_change_of_a_lease_waits_at_a_time(world, lease):
    first = asked(world, lease, lease_extension_ask, seconds=DAY)
    with pytest.raises(Invalid):
        asked(world, lease, lease_resize_ask, copies=1)
    request_withdraw(request=first, user=world.member, actor=make.by(world.member))
    assert asked(world, lease, lease_resize_ask, copies=1).alteration == "resize"


def test_a_resize_holds_only_what_goes_beyond_and_the_yes_replaces_the_lease(world, lease):
    one = held() // 2
    request = asked(world, lease, lease_resize_ask, copies=3)
    assert held() == 3 * one
    assert sum(taken["amount"] for taken in request.entitled) == one
    lease.refresh_from_db()
    assert (lease.state, lease.copies) == ("active", 2)
    new = yes(world, request).lease
    lease.refresh_from_db()
    assert (lease.state, lease.entitled) == ("ending", [])
    assert (new.state, new.copies, new.valid.upper) == ("active", 3, lease.valid.upper)
    assert held() == 3 * one


def test_a_smaller_size_gives_the_rest_back_with_the_yes_and_not_before(world, lease):
    before = held()
    request = asked(world, lease, lease_resize_ask, copies=1)
    assert held() == before
    yes(world, request)
    assert held() == before // 2


def test_a_no_leaves_lease_and_entitlement_as_they_were(world, lease):
    before = held()
    request = asked(world, lease, lease_resize_ask, copies=3)
    request_reject(
        request=request, user=world.lead, actor=make.by(world.lead), reason="not this week"
    )
    lease.refresh_from_db()
    assert (lease.state, lease.copies, held()) == ("active", 2, before)


def test_a_resize_beyond_the_entitlement_is_refused_at_once(world, lease):
    before = held()
    with pytest.raises(QuotaExceeded):
        asked(world, lease, lease_resize_ask, copies=4)
    assert held() == before
    with pytest.raises(Invalid):
        asked(world, lease, lease_resize_ask, copies=2)


@pytest.mark.handmade_books
def test_running_work_goes_over_to_the_new_size(world, lease):
    work = workload_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        command=["true"],
        actor=make.by(world.member),
        lease=lease,
    )
    Workload.objects.filter(pk=work.pk).update(state="running")
    new = yes(world, asked(world, lease, lease_resize_ask, copies=1)).lease
    work.refresh_from_db()
    assert (work.lease, work.preemptible) == (new, False)


def test_a_recall_brings_the_end_forward_with_notice(world, lease):
    soon = timezone.now() + timedelta(hours=2)
    root = make.by(world.platform)
    with pytest.raises(Invalid):
        lease_recall(lease=lease, ends_at=soon, reason=" ", actor=root)
    with pytest.raises(Invalid):
        lease_recall(lease=lease, ends_at=lease.valid.upper, reason="later", actor=root)
    lease_recall(lease=lease, ends_at=soon, reason="cards are needed", actor=root)
    lease.refresh_from_db()
    assert (lease.state, lease.valid.upper, lease.recall_reason) == (
        "active",
        soon,
        "cards are needed",
    )
    assert Notice.objects.get(user=world.member, kind="recall").values["reason"]
    Lease.objects.filter(pk=lease.pk).update(
        valid=(soon - timedelta(days=1), timezone.now() - timedelta(seconds=1))
    )
    assert leases_ending_due(actor=SYSTEM) == 1
    with pytest.raises(IllegalMove):
        lease_recall(lease=lease, ends_at=soon, reason="again", actor=root)


def test_the_end_is_spoken_of_seven_three_and_one_day_before_once_each(world, lease):
    def at(days):
        begun = timezone.now() - timedelta(days=10 - days)
        end = timezone.now() + timedelta(days=days)
        Lease.objects.filter(pk=lease.pk).update(valid=(begun, end))
        return [leases_spoken_of(actor=SYSTEM), leases_spoken_of(actor=SYSTEM)]

    assert at(8) == [0, 0]
    assert at(6.9) == [1, 0]
    assert at(2.9) == [1, 0]
    assert at(0.9) == [1, 0]
    assert Notice.objects.filter(user=world.member, kind="expiry").count() == 3


def test_a_short_lease_is_spoken_of_only_where_the_day_lies_within_it(world, lease):
    begun = timezone.now() - timedelta(minutes=1)
    Lease.objects.filter(pk=lease.pk).update(valid=(begun, begun + timedelta(hours=20)))
    assert leases_spoken_of(actor=SYSTEM) == 0


def test_steps_are_not_passed_by_other_words_than_the_lease_s(world, lease):
    """The yes lengthens the whole lease, and a new size lasts to its end, whatever was written."""
    more = asked(world, lease, lease_extension_ask, seconds=3 * DAY)
    for words in ({"copies": 1}, {"lease_kind": "reserved", "starts_at": lease.valid.upper}):
        with pytest.raises(Invalid):
            request_edit(request=more, user=world.member, actor=make.by(world.member), **words)
    request_edit(
        request=more, user=world.member, actor=make.by(world.member), duration_seconds=2 * DAY
    )
    more.refresh_from_db()
    assert (more.copies, more.duration_seconds) == (2, 2 * DAY)


def test_a_new_size_is_asked_for_as_long_as_the_lease_lasts(world, lease):
    other = asked(world, lease, lease_resize_ask, copies=1)
    with pytest.raises(Invalid):
        request_edit(
            request=other, user=world.member, actor=make.by(world.member), duration_seconds=60
        )
