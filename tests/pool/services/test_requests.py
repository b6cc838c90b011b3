"""Requests before their decision: words, drafts, edits, comments, withdrawal."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from pool.errors import Forbidden, IllegalMove, Impossible, Invalid, NotYours, Stale, Suspended
from pool.events import SYSTEM
from pool.models import Event, Project, Request
from pool.rules.working import WorkingCalendar, working_after
from pool.services.decisions import request_approve, request_decisions_due
from pool.services.requests import (
    request_comment,
    request_draft,
    request_edit,
    request_send,
    request_submit,
    request_withdraw,
)
from tests import factories as make


def draft(world, act=request_draft, **words):
    given = {
        "user": world.member,
        "project": world.project,
        "template_version": world.finetune,
        "actor": make.by(world.member),
        "weights": make.FREE,
    }
    return act(**(given | words))


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"title": "x" * 121}, "title"),
        ({"title": "a\nb"}, "title"),
        ({"purpose": "x" * 4001}, "purpose"),
        ({"purpose": "\x00"}, "purpose"),
        ({"copies": 0}, "copies"),
        ({"copies": -1}, "copies"),
        ({"copies": 1.5}, "copies"),
        ({"copies": 5000}, "copies"),
        ({"duration_seconds": -1}, "duration_seconds"),
        ({"duration_seconds": 8 * 86_400}, "duration_seconds"),
        ({"duration_seconds": "1h"}, "duration_seconds"),
        ({"lease_kind": "gift"}, "lease_kind"),
        ({"starts_at": "tomorrow"}, "starts_at"),
        ({"starts_at": datetime(2030, 1, 1)}, "starts_at"),  # noqa: DTZ001 - without a zone
        ({"starts_at": timezone.now() + timedelta(days=400)}, "starts_at"),
        ({"weights": {"cost": "much"}}, "weights"),
        ({"weights": {"cost": float("nan")}}, "weights"),
        ({"need": {"memory_gb": 0}}, "memory_gb"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_wrong_words_are_refused_by_field_and_leave_no_trace(world, words, field):
    events = Event.objects.count()
    for act in (request_draft, request_submit):
        with pytest.raises(Invalid) as refused:
            draft(world, act, **words)
        assert field in refused.value.detail
    assert not Request.objects.exists()
    assert Event.objects.count() == events


def test_a_draft_binds_nobody_until_it_is_sent(world):
    request = draft(world, title="Later", need={"memory_gb": 40}, copies=3)
    assert (request.state, request.steps, request.entitled) == ("draft", [], [])
    assert request.duration_seconds == world.finetune.default_seconds
    sent = request_send(request=request, user=world.member, actor=make.by(world.member))
    assert (sent.state, sent.steps, sent.revision) == ("submitted", ["lead"], 2)
    assert [p.slug for p in sent.partitions.all()] == ["a100"]
    assert sent.promised_at == working_after(WorkingCalendar(), sent.submitted_at, 8)


def test_what_no_card_could_hold_is_refused_when_it_is_sent(world):
    request = draft(world, need={"memory_gb": 200})
    with pytest.raises(Impossible):
        request_send(request=request, user=world.member, actor=make.by(world.member))
    request.refresh_from_db()
    assert request.state == "draft"


def test_an_edit_changes_what_is_said_and_keeps_the_rest(world):
    request = draft(world, request_submit, title="One", copies=2, need={"memory_gb": 40})
    edited = request_edit(
        request=request,
        user=world.member,
        actor=make.by(world.member),
        weights=make.FREE,
        revision=request.revision,
        need={"ram_mib": 4096},
        purpose="more data",
    )
    assert (edited.title, edited.copies, edited.purpose) == ("One", 2, "more data")
    assert (edited.need["memory_gb"], edited.need["ram_mib"]) == (40, 4096)
    assert edited.revision == request.revision + 1
    shared = request_edit(
        request=edited,
        user=world.member,
        actor=make.by(world.member),
        weights=make.FREE,
        need={"share_percent": 30, "ram_mib": None},
    )
    assert shared.need == {"parts": 1, "share_milli": 300}


def test_an_edit_of_an_older_reading_or_a_decided_request_is_stale(world):
    request = draft(world, request_submit)
    words = {"user": world.member, "actor": make.by(world.member)}
    with pytest.raises(Stale):
        request_edit(request=request, revision=1, title="late", **words)
    request_approve(request=request, user=world.lead, actor=make.by(world.lead))
    with pytest.raises(Stale):
        request_edit(request=request, title="late", **words)


def test_weights_grow_with_what_is_asked_until_they_are_weighed_anew(world):
    words = {"user": world.member, "actor": make.by(world.member)}
    request = draft(world, request_submit, duration_seconds=3600, weights={"cost": 1000})
    edited = request_edit(request=request, copies=2, duration_seconds=7200, **words)
    assert (edited.weights, edited.steps) == ({"cost": 4000}, ["lead"])
    edited = request_edit(request=request, copies=3, **words)
    assert (edited.weights, edited.steps) == ({"cost": 6000}, ["lead", "org_admin"])
    weighed = request_edit(request=request, weights={"cost": 10}, **words)
    assert (weighed.weights, weighed.steps) == ({"cost": 10}, ["lead"])


def test_an_approver_cannot_make_a_request_too_dear_for_their_own_yes(world):
    request = draft(world, request_submit, duration_seconds=3600, weights={"cost": 1000})
    changes = {"duration_seconds": 6 * 3600}
    words = {"user": world.lead, "actor": make.by(world.lead)}
    changed = request_approve(request=request, changes=changes, **words)
    assert (changed.state, changed.steps, changed.step) == ("submitted", ["lead", "org_admin"], 1)


def test_another_kind_of_card_makes_old_weights_say_nothing(world):
    make.partition("h100", labels=("H100-80GB",), rank=200)
    make.node("n2", (("H100-80GB", 1),))
    mine = {"user": world.member, "actor": make.by(world.member)}
    request = draft(world, request_submit, need={"models": ["A100-80GB"]})
    assert request.steps == ["lead"]
    edited = request_edit(request=request, need={"models": ["H100-80GB"]}, **mine)
    assert (edited.weights, edited.steps) == ({}, ["lead", "org_admin"])
    again = request_edit(request=request, need={"models": ["A100-80GB"]}, weights={}, **mine)
    assert again.steps == ["lead", "org_admin"]
    weighed = request_edit(request=request, title="x", weights={"cost": 1}, **mine)
    assert weighed.steps == ["lead"]


@pytest.mark.parametrize(("cost", "state"), [(5001, "submitted"), (5000, "approved")])
@pytest.mark.parametrize("delay_s", [0, 10])
def test_an_approver_who_grants_another_card_is_weighed_by_its_price(world, cost, state, delay_s):
    make.partition("h100", labels=("H100-80GB",), rank=200)
    make.node("n2", (("H100-80GB", 1),))
    request = draft(world, request_submit, need={"models": ["A100-80GB"]})
    request_approve(
        request=request,
        user=world.lead,
        actor=make.by(world.lead),
        changes={"need": {"models": ["H100-80GB"]}},
        weights={"cost": cost},
        delay_s=delay_s,
    )
    Request.objects.filter(pending_until__isnull=False).update(pending_until=timezone.now())
    request_decisions_due(actor=SYSTEM)
    request.refresh_from_db()
    assert (request.state, request.weights) == (state, {"cost": cost})


def test_an_approver_may_make_it_reserved_or_on_demand(world):
    words = {"user": world.lead, "actor": make.by(world.lead)}
    request = draft(world, request_submit)
    request_approve(request=request, changes={"lease_kind": "reserved"}, **words)
    request.refresh_from_db()
    assert request.steps == ["lead", "org_admin"]
    assert request.reservation.state == "asked"
    words = {"user": world.admin, "actor": make.by(world.admin)}
    request_approve(request=request, changes={"lease_kind": "on_demand"}, **words)
    request.reservation.refresh_from_db()
    assert request.reservation.state == "cancelled"
    assert request.lease.kind == "on_demand"


def test_another_kind_of_card_is_looked_for_everywhere(world):
    make.partition("h100", labels=("H100-80GB",), rank=200)
    make.node("n2", (("H100-80GB", 1),))
    words = {"user": world.member, "actor": make.by(world.member)}
    request = draft(world, request_submit, need={"models": ["A100-80GB"]})
    edited = request_edit(request=request, need={"models": ["H100-80GB"]}, **words)
    assert [p.slug for p in edited.partitions.all()] == ["h100"]


def test_an_edit_starts_the_steps_again(world):
    make.node("n2")
    request = draft(world, request_submit, template_version=world.whole, copies=9)
    request_approve(request=request, user=world.lead, actor=make.by(world.lead))
    words = {"user": world.member, "actor": make.by(world.member)}
    edited = request_edit(request=request, copies=10, **words)
    assert (edited.step, edited.steps) == (0, ["lead", "org_admin"])


def test_only_its_own_requester_edits_or_sends_a_request(world):
    request = draft(world)
    words = {"user": world.lead, "actor": make.by(world.lead)}
    with pytest.raises(Forbidden):
        request_send(request=request, **words)
    with pytest.raises(Forbidden):
        request_edit(request=request, title="mine", **words)
    with pytest.raises(NotYours):
        request_send(request=Request(pk=999, project=world.project), **words)


def test_a_request_is_sent_once(world):
    request = draft(world, request_submit)
    with pytest.raises(IllegalMove):
        request_send(request=request, user=world.member, actor=make.by(world.member))


def test_its_requester_or_a_lead_withdraws_it_and_twice_is_once(world):
    colleague = make.user("col", "member", at=world.project)
    request = draft(world, request_submit)
    with pytest.raises(Forbidden):
        request_withdraw(request=request, user=colleague, actor=make.by(colleague))
    for _ in range(2):
        gone = request_withdraw(request=request, user=world.lead, actor=make.by(world.lead))
        assert gone.state == "withdrawn"
    assert Event.objects.filter(kind="request.withdrawn").count() == 1


def test_a_comment_is_a_text(world):
    request = draft(world)
    words = {"request": request, "user": world.lead, "actor": make.by(world.lead)}
    for text in ("", "   ", "x" * 4001, "\x00", None):
        with pytest.raises(Invalid):
            request_comment(text=text, **words)
    assert request_comment(text=" Which data? ", **words).text == "Which data?"
    assert Event.objects.last().project_id == world.project.pk


def test_a_suspended_project_asks_for_nothing_new(world):
    request = draft(world)
    Project.objects.update(suspended=True, suspended_reason="budget spent")
    with pytest.raises(Suspended):
        draft(world)
    with pytest.raises(Suspended):
        request_send(request=request, user=world.member, actor=make.by(world.member))
