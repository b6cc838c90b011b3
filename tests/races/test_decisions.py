"""Many people at once: one decision counts, no allowance or entitlement is passed."""

import threading

import pytest
from django.db import connection, transaction

from pool.errors import AlreadyDecided, QuotaExceeded
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaKind, Role
from pool.models import Event, Lease, Quota, Request, Workload
from pool.selectors.allowances import allowance_used
from pool.services.decisions import request_approve, request_decisions_due, request_reject
from pool.services.quotas import quota_set
from pool.services.requests import request_edit, request_submit, request_withdraw
from pool.services.workloads import workload_submit
from tests import factories as make
from tests.races.test_rounds import together
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world():
    """One project with people, eight cards and three templates."""
    return make.World()


def ask(world, **words):
    given = {
        "user": world.member,
        "project": world.project,
        "template_version": world.whole,
        "actor": make.by(world.member),
        "weights": make.FREE,
    }
    return request_submit(**(given | words))


def test_of_many_approvers_at_once_one_wins_and_the_others_hear_who(world):
    request = ask(world)
    others = [make.user(f"lead{n}", Role.LEAD, at=world.project) for n in range(7)]

    def yes(person):
        return lambda: request_approve(request=request, user=person, actor=make.by(person))

    def no(person):
        return lambda: request_reject(
            request=request, user=person, actor=make.by(person), reason="no"
        )

    raised = together(*[yes(p) for p in others[:4]], *[no(p) for p in others[4:]])
    lost = [one for one in raised if one is not None]
    assert len(lost) == 6
    assert all(isinstance(one, AlreadyDecided) for one in lost)
    winner = Request.objects.get().decided_by
    assert {one.detail["by"] for one in lost} == {str(winner)}
    decided = Event.objects.filter(kind__in=["request.approved", "request.rejected"])
    assert decided.count() == 1
    assert Lease.objects.count() == Request.objects.filter(state="approved").count()


def test_a_decision_that_waited_takes_effect_once_however_many_sweep(world):
    workload = workload_submit(
        user=world.member,
        project=world.project,
        template_version=world.whole,
        command=["true"],
        actor=make.by(world.member),
        weights=make.FREE,
    )
    request_approve(
        request=workload.request, user=world.lead, actor=make.by(world.lead), delay_s=10
    )
    Request.objects.update(pending_until="2020-01-01T00:00:00Z")
    raised = together(*[lambda: request_decisions_due(actor=SYSTEM)] * 4)
    assert raised == [None] * 4
    assert Lease.objects.count() == 1
    assert Event.objects.filter(kind="request.approved").count() == 1
    assert Workload.objects.get().state == "queued"


def test_a_decision_and_a_withdrawal_at_once_leave_one_truth(world):
    row = make.quota(world.project, world.partition, 1, kind=QuotaKind.ENTITLEMENT)
    request = ask(world)
    actor = make.by(world.member)
    together(
        lambda: request_approve(request=request, user=world.lead, actor=make.by(world.lead)),
        lambda: request_withdraw(request=request, user=world.member, actor=actor),
        lambda: request_edit(request=request, user=world.member, actor=actor, title="now"),
    )
    request.refresh_from_db(), row.refresh_from_db()
    assert request.state in ("approved", "withdrawn")
    assert row.held == (1_000_000 if request.state == "approved" else 0)
    assert Lease.objects.count() == (request.state == "approved")


def test_two_hundred_submissions_at_once_never_pass_the_allowance(world):
    make.allowance(world.project, world.partition, 2)
    people = [make.user(f"person{n}", Role.MEMBER, at=world.project) for n in range(8)]

    def many(person):
        def act():
            for _ in range(25):
                workload_submit(
                    user=person,
                    project=world.project,
                    template_version=world.finetune,
                    command=["true"],
                    actor=make.by(person),
                    when_full="ask",
                )

        return act

    assert together(*map(many, people)) == [None] * 8
    inside = Workload.objects.filter(entitlement="allowance")
    used = allowance_used(project=world.project, partitions=[world.partition], unit="cards_micro")
    assert Workload.objects.count() == 200
    assert inside.count() == 7
    assert used == 7 * 267_857 <= 2_000_000
    assert Request.objects.count() == 193
    assert set(inside.values_list("state", flat=True)) == {"queued"}


def test_requests_at_once_in_two_projects_never_pass_the_organizations_cap(world):
    other = make.project("speech", of=world.organization)
    row = make.quota(world.organization, world.partition, 3, kind=QuotaKind.ENTITLEMENT)
    raised = together(
        *[lambda: ask(world)] * 4,
        *[lambda: ask(world, project=other)] * 4,
    )
    refused = [one for one in raised if one is not None]
    assert len(refused) == 5
    assert all(isinstance(one, QuotaExceeded) for one in refused)
    row.refresh_from_db()
    assert row.held == 3_000_000
    assert Request.objects.count() == 3


def test_a_limit_made_while_requests_come_in_counts_each_of_them_once(world):
    raised = together(
        *[lambda: ask(world)] * 6,
        lambda: _cap(world),
    )
    assert raised == [None] * 7
    row = Quota.objects.get()
    counted = sum(one["amount"] for r in Request.objects.all() for one in r.entitled)
    assert row.held == counted == 6_000_000


def test_a_limit_made_while_a_request_is_on_its_way_counts_it(world):
    sent, made = threading.Event(), threading.Event()

    def send():
        with transaction.atomic():
            ask(world)
            sent.set()
            until(lambda: made.is_set() or _somebody_waits(), what="the limit is made or waits")

    def cap():
        sent.wait(30)
        _cap(world)
        made.set()

    assert together(send, cap) == [None, None]
    assert Quota.objects.get().held == 1_000_000
    assert [len(one.entitled) for one in Request.objects.all()] == [1]


def _somebody_waits():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0]


def _cap(world):
    quota_set(
        tenant=world.project,
        partition=world.partition,
        unit="cards_micro",
        card_model="A100-80GB",
        kind=QuotaKind.ENTITLEMENT,
        limit=8_000_000,
        actor=SYSTEM,
    )
