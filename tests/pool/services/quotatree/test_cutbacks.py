"""Leases that stand unused: told, withdrawn when used again, cut back at the end of the notice."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.clock import now
from pool.errors import IllegalMove
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaKind
from pool.models import Cutback, Event, Lease, Quota
from pool.models.approvals.notices import Notice
from pool.rules.quotatree.cutbacks import judge
from pool.services.calendar.history import numbers_change
from pool.services.decisions import request_approve
from pool.services.quotatree.cutbacks import cutback_withdraw, cutbacks_due
from pool.services.requests import request_submit
from tests import factories as make

DAY = 86_400


@pytest.fixture
def world(db):
    made = make.World()
    make.quota(made.project, made.partition, 8, kind=QuotaKind.ENTITLEMENT)
    return made


@pytest.fixture
def lease(world):
    """Four whole cards for 60 days, approved 20 days ago, and nobody came."""
    request = request_submit(
        user=world.member,
        project=world.project,
        template_version=world.whole,
        actor=make.by(world.member),
        weights=make.FREE,
        copies=4,
        duration_seconds=6 * DAY,
    )
    row = request_approve(request=request, user=world.lead, actor=make.by(world.lead)).lease
    begun = now() - timedelta(days=20)
    Lease.objects.filter(pk=row.pk).update(valid=(begun, begun + timedelta(days=60)))
    return row


def used(monkeypatch, copies):
    """So many copies were in use on average."""
    seconds = copies * 14 * DAY
    monkeypatch.setattr("pool.services.quotatree.cutbacks._used_s", lambda *_: seconds)


def over():
    Cutback.objects.update(due_at=now() - timedelta(seconds=1))


def test_an_unused_lease_is_told_and_ends_after_the_notice(world, lease):
    assert [cutbacks_due(actor=SYSTEM) for _ in range(3)] == [1, 0, 0]
    row = Cutback.objects.get()
    assert (row.used_milli, row.copies, row.keeps) == (0, 4, 0)
    assert Event.objects.filter(kind="cutback.noticed").count() == 1
    told = Notice.objects.filter(kind="recall")
    assert {one.user for one in told} == {world.member, world.lead}
    assert {(one.values["keeps"], one.values["copies"]) for one in told} == {(0, 4)}
    over()
    assert cutbacks_due(actor=SYSTEM) == 1
    row.refresh_from_db(), lease.refresh_from_db()
    assert (row.state, lease.state) == ("cut", "ending")
    assert Quota.objects.get().held == 0


def test_a_lease_used_a_little_keeps_what_would_have_been_used_by_half(world, lease, monkeypatch):
    used(monkeypatch, 0.6)
    cutbacks_due(actor=SYSTEM)
    assert Cutback.objects.get().keeps == 2
    over()
    cutbacks_due(actor=SYSTEM)
    lease.refresh_from_db()
    assert (lease.copies, lease.state) == (2, "active")
    assert Quota.objects.get().held == 2_000_000
    assert lease.entitled == [{"quota": Quota.objects.get().pk, "amount": 2_000_000}]


def test_a_lease_that_is_used_again_is_let_be(world, lease, monkeypatch):
    cutbacks_due(actor=SYSTEM)
    used(monkeypatch, 3)
    over()
    cutbacks_due(actor=SYSTEM)
    lease.refresh_from_db()
    assert (Cutback.objects.get().state, lease.copies) == ("withdrawn", 4)


def test_an_admin_may_let_a_lease_be_and_an_old_notice_is_over(world, lease):
    cutbacks_due(actor=SYSTEM)
    row = Cutback.objects.get()
    cutback_withdraw(cutback=row, actor=make.by(world.platform), reason="a paper is due")
    row.refresh_from_db()
    assert (row.state, row.state_reason) == ("withdrawn", "a paper is due")
    with pytest.raises(IllegalMove):
        cutback_withdraw(cutback=row, actor=make.by(world.platform), reason="again")


def test_the_rule_can_be_edited_and_switched_off(world, lease):
    actor = make.by(world.platform)
    numbers_change(values={"cut_back": False}, reason="holidays", actor=actor)
    assert cutbacks_due(actor=SYSTEM) == 0
    numbers_change(
        values={"cut_back": True, "cut_back_over_s": 30 * DAY}, reason="longer", actor=actor
    )
    assert cutbacks_due(actor=SYSTEM) == 0
    numbers_change(values={"cut_back_over_s": 7 * DAY}, reason="shorter", actor=actor)
    assert cutbacks_due(actor=SYSTEM) == 1


@given(st.integers(1, 64), st.floats(0, 64), st.integers(0, 1000))
def test_what_is_cut_back_keeps_less_than_it_had_and_at_least_what_was_used(copies, use, share):
    use = min(use, copies)
    found = judge(copies=copies, used_copy_s=use * 100, over_s=100, share_milli=share)
    if found is None:
        assert round(1000 * use / copies) >= share
        return
    assert 0 <= found.keeps < copies
    assert found.keeps >= min(use - copies / 2000, copies - 1)
