"""Decisions on requests: who may, who was first, what becomes of the work that waited."""

from datetime import timedelta

import pytest
from django.utils import timezone

from pool.errors import AlreadyDecided, Forbidden, IllegalMove, Invalid, OwnRequest, Stale
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaKind, Role
from pool.models import Event, Lease, Request
from pool.services.decisions import (
    request_approve,
    request_decisions_due,
    request_reject,
    request_return,
    request_undo,
)
from pool.services.requests import request_edit, request_send, request_submit, request_withdraw
from pool.services.workloads import workload_submit
from tests import factories as make


def ask(world, **words):
    given = {
        "user": world.member,
        "project": world.project,
        "template_version": world.finetune,
        "actor": make.by(world.member),
        "weights": make.FREE,
        "duration_seconds": 86_400,
        "title": "A week of tuning",
    }
    return request_submit(**(given | words))


def approve(request, person, **words):
    return request_approve(request=request, user=person, actor=make.by(person), **words)


def run(world, template=None, **words):
    given = {
        "user": world.member,
        "project": world.project,
        "template_version": template or world.finetune,
        "command": ["true"],
        "actor": make.by(world.member),
        "weights": make.FREE,
    }
    return workload_submit(**(given | words))


def test_an_approval_opens_the_lease_and_lets_the_waiting_work_in(world):
    workload = run(world, expected_seconds=7000)
    request = approve(workload.request, world.lead)
    lease = Lease.objects.get()
    workload.refresh_from_db()
    assert (request.state, request.decided_by) == ("approved", world.lead)
    assert (workload.state, workload.entitlement, workload.lease) == ("queued", "lease", lease)
    assert workload.queued_at is not None
    assert lease.valid.upper - lease.valid.lower == timedelta(seconds=7000)
    assert [p.slug for p in lease.partitions.all()] == ["a100"]
    kinds = set(Event.objects.values_list("kind", flat=True))
    assert {"request.drafted", "request.submitted", "request.approved", "lease.opened"} <= kinds


def test_an_approved_lease_carries_the_next_work_of_its_template(world):
    approve(ask(world, copies=2), world.lead)
    assert [run(world).entitlement for _ in range(3)] == ["lease", "lease", "pending"]
    assert run(world, world.whole).entitlement == "pending"


def test_the_lease_that_ends_last_is_taken(world):
    approve(ask(world), world.lead)
    approve(ask(world, duration_seconds=2 * 86_400), world.lead)
    longest = Lease.objects.order_by("-valid__endswith").first()
    assert run(world).lease == longest


def test_a_lease_may_be_named_and_must_fit(world):
    lease = approve(ask(world), world.lead).lease
    with pytest.raises(Invalid, match="another template"):
        run(world, world.whole, lease=lease)
    with pytest.raises(Invalid, match="larger than the lease"):
        run(world, need={"memory_gb": 70}, lease=lease)
    assert run(world, lease=lease).state == "queued"
    with pytest.raises(Invalid, match="in full use"):
        run(world, lease=lease)


def test_a_lease_of_another_project_is_not_there(world):
    lease = approve(ask(world), world.lead).lease
    other = make.project("speech", of=world.organization)
    with pytest.raises(Invalid, match="no such lease"):
        run(world, project=other, lease=lease)


def test_nobody_decides_on_a_request_of_their_own(world):
    request = ask(world, user=world.lead, actor=make.by(world.lead))
    with pytest.raises(OwnRequest):
        approve(request, world.lead)
    assert approve(request, world.admin).state == "approved"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
def test_members_and_viewers_do_not_decide(world, role):
    request = ask(world)
    with pytest.raises(Forbidden):
        approve(request, make.user("vic", role, at=world.project))


def test_a_lead_elsewhere_does_not_decide(world):
    stranger = make.user("sam", Role.LEAD, at=make.project("speech"))
    with pytest.raises(Forbidden):
        approve(ask(world), stranger)


def test_the_second_decider_is_told_who_was_first_and_when(world):
    request = ask(world)
    approve(request, world.lead)
    with pytest.raises(AlreadyDecided) as refused:
        request_reject(
            request=request, user=world.admin, actor=make.by(world.admin), reason="too late"
        )
    assert refused.value.detail["by"] == "lea"
    assert refused.value.detail["state"] == "approved"
    assert refused.value.detail["at"].startswith("20")


def test_a_decision_on_an_older_reading_is_stale(world):
    request = ask(world)
    read = request.revision
    request_edit(request=request, user=world.member, actor=make.by(world.member), copies=2)
    with pytest.raises(Stale):
        approve(request, world.lead, revision=read)
    request.refresh_from_db()
    assert approve(request, world.lead, revision=request.revision).copies == 2


def test_a_big_request_needs_every_step_in_order(world):
    make.node("n2")
    request = ask(world, template_version=world.whole, copies=9)
    assert request.steps == ["lead", "org_admin"]
    assert approve(request, world.lead).state == "submitted"
    with pytest.raises(Forbidden):
        approve(request, world.lead)
    assert approve(request, world.admin).state == "approved"
    assert Lease.objects.get().copies == 9


def test_a_stronger_role_passes_the_weaker_steps_as_well(world):
    make.node("n2")
    request = ask(world, template_version=world.whole, copies=9)
    assert approve(request, world.platform).state == "approved"


def test_cost_passed_as_a_weight_brings_the_next_step(world):
    assert ask(world, weights={"cost": 5001}).steps == ["lead", "org_admin"]


def test_a_decision_at_a_page_waits_ten_seconds_and_can_be_undone(world):
    request = approve(ask(world), world.lead, delay_s=10)
    assert (request.state, request.pending_decision["decision"]) == ("submitted", "approve")
    assert request_decisions_due(actor=SYSTEM) == 0
    undone = request_undo(request=request, user=world.lead, actor=make.by(world.lead))
    assert undone.pending_decision is None
    with pytest.raises(Stale):
        request_undo(request=request, user=world.lead, actor=make.by(world.lead))


def test_a_decision_that_waited_takes_effect_once(world):
    workload = run(world)
    approve(workload.request, world.lead, delay_s=10)
    Request.objects.update(pending_until=timezone.now() - timedelta(seconds=1))
    assert request_decisions_due(actor=SYSTEM) == 1
    assert request_decisions_due(actor=SYSTEM) == 0
    workload.refresh_from_db()
    assert workload.state == "queued"
    assert Request.objects.get().decided_by == world.lead
    approved = Event.objects.get(kind="request.approved")
    assert approved.actor_label == "lea"


def test_a_waiting_decision_is_another_deciders_answer_too(world):
    request = approve(ask(world), world.lead, delay_s=10)
    with pytest.raises(AlreadyDecided):
        approve(request, world.admin)
    with pytest.raises(Forbidden):
        request_undo(request=request, user=world.admin, actor=make.by(world.admin))


def test_a_waiting_decision_that_can_no_longer_be_carried_out_is_dropped_with_why(world):
    request = approve(ask(world), world.lead, delay_s=10, changes={"copies": 3})
    make.quota(world.project, world.partition, 0, kind=QuotaKind.ENTITLEMENT)
    Request.objects.update(pending_until=timezone.now() - timedelta(seconds=1))
    assert request_decisions_due(actor=SYSTEM) == 0
    request.refresh_from_db()
    assert (request.state, request.pending_decision, request.copies) == ("submitted", None, 1)
    assert Event.objects.last().data["why"] == "quota_exceeded"


def test_an_edit_drops_the_decision_that_waited(world):
    request = approve(ask(world), world.lead, delay_s=10)
    request_edit(request=request, user=world.member, actor=make.by(world.member), copies=2)
    Request.objects.update(pending_until=timezone.now() - timedelta(seconds=1))
    assert request_decisions_due(actor=SYSTEM) == 0


def test_approval_with_changes_writes_them_and_says_so(world):
    workload = run(world, expected_seconds=7000)
    changes = {"duration_seconds": 3600, "need": {"memory_gb": 10}}
    approve(workload.request, world.lead, changes=changes, reason="ten are enough")
    lease = Lease.objects.get()
    workload.refresh_from_db()
    assert lease.need["memory_gb"] == workload.need["memory_gb"] == 10
    assert lease.valid.upper - lease.valid.lower == timedelta(hours=1)
    assert Event.objects.get(kind="request.approved").data["changed"] == [
        "duration_seconds",
        "need",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "mine"},
        {"copies": 0},
        {"need": {"memory_gb": -1}},
        {"need": "small"},
        {"need": {"self": 1}},
        {"starts_at": "tomorrow"},
        {"gold": 1},
    ],
)
def test_wrong_changes_are_refused_and_decide_nothing(world, changes):
    request = ask(world)
    with pytest.raises(Invalid):
        approve(request, world.lead, changes=changes)
    request.refresh_from_db()
    assert request.state == "submitted"


def test_a_rejection_needs_a_reason_and_cancels_the_waiting_work(world):
    workload = run(world)
    words = {"user": world.lead, "actor": make.by(world.lead)}
    with pytest.raises(Invalid):
        request_reject(request=workload.request, reason="  ", **words)
    request = request_reject(request=workload.request, reason="use the allowance", **words)
    workload.refresh_from_db()
    assert (request.state, request.decision_reason) == ("rejected", "use the allowance")
    assert (workload.state, "use the allowance" in workload.message) == ("cancelled", True)


def test_asking_back_keeps_the_work_waiting_until_the_answer(world):
    workload = run(world)
    words = {"user": world.lead, "actor": make.by(world.lead)}
    request = request_return(request=workload.request, text="Which data?", **words)
    workload.refresh_from_db()
    assert (request.state, workload.state) == ("returned", "awaiting_approval")
    assert request.comments.get().text == "Which data?"
    answered = request_send(request=request, user=world.member, actor=make.by(world.member))
    assert (answered.state, answered.decided_by, answered.step) == ("submitted", None, 0)
    assert approve(answered, world.lead).state == "approved"


def test_entitlement_counts_leases_and_pending_and_comes_back(world):
    row = make.quota(world.organization, world.partition, 2, kind=QuotaKind.ENTITLEMENT)

    def held():
        row.refresh_from_db()
        return row.held

    words = {"user": world.lead, "actor": make.by(world.lead)}
    whole = {"template_version": world.whole}
    first = ask(world, **whole)
    second = ask(world, **whole)
    assert held() == 2_000_000
    request_reject(request=second, reason="no", **words)
    assert held() == 1_000_000
    approve(first, world.lead)
    assert held() == 1_000_000
    third = ask(world, **whole)
    request_return(request=third, text="why?", **words)
    assert held() == 1_000_000
    request_send(request=third, user=world.member, actor=make.by(world.member))
    assert held() == 2_000_000
    request_withdraw(request=third, user=world.member, actor=make.by(world.member))
    assert held() == 1_000_000


def test_a_decided_request_is_not_withdrawn(world):
    request = approve(ask(world), world.lead)
    with pytest.raises(IllegalMove):
        request_withdraw(request=request, user=world.member, actor=make.by(world.member))
