"""Requests, leases and work in any order of acts: the entitlement rows always tell the truth."""

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pool.errors import PoolError
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaKind
from pool.models import Lease, Quota, Request, Workload
from pool.services.decisions import (
    request_approve,
    request_decisions_due,
    request_reject,
    request_return,
    request_undo,
)
from pool.services.leases import lease_give_back
from pool.services.requests import (
    request_edit,
    request_send,
    request_submit,
    request_withdraw,
)
from pool.services.workloads import workload_stop, workload_submit
from tests import factories as make

ACTS = (
    "ask",
    "work",
    "send",
    "edit",
    "withdraw",
    "approve",
    "approve_later",
    "approve_changed",
    "reject",
    "ask_back",
    "undo",
    "due",
    "give_back",
    "stop",
)


class Office:
    """One project's requests, acted on by number."""

    def __init__(self, world):
        self.world = world
        self.mine = {"user": world.member, "actor": make.by(world.member)}
        self.theirs = {"user": world.lead, "actor": make.by(world.lead)}
        make.quota(world.project, world.partition, 5, kind=QuotaKind.ENTITLEMENT)
        make.quota(world.organization, world.partition, 6, kind=QuotaKind.ENTITLEMENT)

    def act(self, what, number):
        """One act; what is refused must have changed nothing, which the invariants show."""
        rows = list(Request.objects.order_by("pk"))
        request = rows[number % len(rows)] if rows else None
        if request is None and what not in ("ask", "work"):
            return
        try:
            with transaction.atomic():
                getattr(self, what)(request, number)
        except PoolError:
            return

    def ask(self, _, number):
        request_submit(
            project=self.world.project,
            template_version=self.world.whole,
            copies=1 + number % 2,
            **self.mine,
        )

    def work(self, _, number):
        workload_submit(
            project=self.world.project,
            template_version=self.world.whole,
            command=["true"],
            need={"parts": 1 + number % 2},
            **self.mine,
        )

    def send(self, request, _):
        request_send(request=request, **self.mine)

    def edit(self, request, number):
        request_edit(request=request, copies=1 + number % 4, **self.mine)

    def withdraw(self, request, _):
        request_withdraw(request=request, **self.mine)

    def approve(self, request, _):
        request_approve(request=request, **self.theirs)

    def approve_later(self, request, _):
        request_approve(request=request, delay_s=10, **self.theirs)

    def approve_changed(self, request, number):
        changes = {"copies": 1 + number % 5}
        request_approve(request=request, changes=changes, **self.theirs)

    def reject(self, request, _):
        request_reject(request=request, reason="no", **self.theirs)

    def ask_back(self, request, _):
        request_return(request=request, text="why?", **self.theirs)

    def undo(self, request, _):
        request_undo(request=request, **self.theirs)

    def due(self, *_):
        Request.objects.filter(pending_until__isnull=False).update(
            pending_until="2020-01-01T00:00:00Z"
        )
        request_decisions_due(actor=SYSTEM)

    def give_back(self, _, number):
        rows = list(Lease.objects.order_by("pk"))
        if rows:
            lease_give_back(lease=rows[number % len(rows)], actor=make.by(self.world.member))

    def stop(self, _, number):
        rows = list(Workload.objects.order_by("pk"))
        if rows:
            workload_stop(workload=rows[number % len(rows)], actor=make.by(self.world.member))


def told_truth():
    """What must hold after every act."""
    claims = [
        *Request.objects.filter(state="submitted"),
        *Lease.objects.filter(state="active"),
    ]
    for row in Quota.objects.filter(kind=QuotaKind.ENTITLEMENT):
        counted = [t["amount"] for one in claims for t in one.entitled if t["quota"] == row.pk]
        assert row.held == sum(counted) <= row.limit_value
    assert all(one.entitled for one in claims)
    over = Request.objects.exclude(state="submitted")
    assert not over.exclude(entitled=[]).exists()
    assert not over.exclude(pending_decision=None).exists()
    waiting = Workload.objects.filter(state="awaiting_approval")
    assert not waiting.exclude(request__state__in=["submitted", "returned"]).exists()
    queued = Workload.objects.filter(state="queued")
    assert not queued.exclude(lease__state="active").exists()
    assert Lease.objects.count() == Request.objects.filter(state="approved").count()


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25
)
@given(st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 7)), max_size=14))
def test_any_order_of_acts_leaves_true_books(world, acts):
    with transaction.atomic():
        office = Office(world)
        for what, number in acts:
            office.act(what, number)
            told_truth()
        transaction.set_rollback(True)


@pytest.mark.parametrize("what", ACTS)
def test_every_act_is_possible(world, what):
    office = Office(world)
    office.act("ask", 0)
    if what == "send":
        office.act("ask_back", 0)
    if what == "undo":
        office.act("approve_later", 0)
    if what == "give_back":
        office.act("approve", 0)
    if what in ("stop", "due"):
        office.act("work", 0)
    with transaction.atomic():
        getattr(office, what)(Request.objects.first(), 0)
    told_truth()
