"""Deciding: with an undo, on what was read, never on one's own."""

from datetime import timedelta

import pytest

from pool.models import Request


def decide(visitor, request, verb, **data):
    path = f"/approvals/{request.uid}/{verb}/"
    return visitor.send(path, {"revision": request.revision, **data}, htmx=True)


def fresh(request) -> Request:
    return Request.objects.get(pk=request.pk)


def test_a_yes_waits_ten_seconds_and_can_be_undone(visit, world):
    lead, request = visit("lead"), world.own.request
    answer = decide(lead, request, "approve", reason="fine")
    assert answer.status_code == 200
    assert b"takes effect in" in answer.content
    waiting = fresh(request)
    assert (waiting.state, waiting.pending_decision["decision"]) == ("submitted", "approve")
    answer = decide(lead, request, "undo")
    assert "approvals-changed" in answer["HX-Trigger"]
    assert fresh(request).pending_decision is None


def test_a_no_and_a_question_need_words(visit, world):
    lead, request = visit("lead"), world.own.request
    for verb in ("reject", "return"):
        answer = decide(lead, request, verb, reason="  ")
        assert answer.status_code == 422
        assert answer.context["form"].errors["reason"]
        assert fresh(request).pending_decision is None


def test_changes_are_kept_with_the_decision_only_where_they_differ(visit, world):
    lead, request = visit("lead"), world.own.request
    asked = {"copies": "1", "time_value": "30 min"}
    decide(lead, request, "approve", **asked)
    changes = fresh(request).pending_decision["changes"]
    assert changes["duration_seconds"] == 1800
    assert set(changes) == {"duration_seconds", "weights"}


def test_a_decision_on_an_older_reading_is_refused_and_shows_how_it_stands(visit, world):
    lead, request = visit("lead"), world.own.request
    Request.objects.filter(pk=request.pk).update(revision=7, copies=3)
    answer = decide(lead, request, "approve")
    assert answer.status_code == 409
    assert b"Below is how it stands now." in answer.content
    assert fresh(request).pending_decision is None


def test_a_second_decider_is_told_who_was_first(visit, world):
    request = world.own.request
    decide(visit("lead"), request, "approve")
    answer = decide(visit("org_admin"), request, "reject", reason="no")
    assert answer.status_code == 409
    assert b"vision-lead" in answer.content


def test_nobody_decides_on_a_request_of_their_own(visit, world):
    lead = visit("lead")
    own = world.own.asked(requester=lead.user)
    assert b"your own request" in lead.open(f"/approvals/?open={own.uid}").content
    decide(lead, own, "approve")
    assert fresh(own).pending_decision is None


@pytest.mark.parametrize("role", ["member", "viewer"])
def test_who_does_not_decide_cannot_decide(role, visit, world):
    decide(visit(role), world.own.request, "approve")
    assert fresh(world.own.request).pending_decision is None


@pytest.mark.parametrize("role", ["member", "viewer"])
def test_a_colleagues_record_is_shown_only_to_those_who_decide(role, visit, world):
    visitor, uid = visit(role), world.own.request.uid
    assert visitor.open(f"/approvals/{uid}/").status_code == 403
    assert visitor.open(f"/approvals/?open={uid}").status_code == 403


def test_an_unknown_verb_decides_nothing(visit, world):
    assert decide(visit("lead"), world.own.request, "steal").status_code == 404
    assert fresh(world.own.request).pending_decision is None


def test_the_pane_shows_consequences_in_numbers(visit, world):
    world.own.request.partitions.add(world.partition)
    shown = visit("lead").open(f"/approvals/{world.own.request.uid}/").content.decode()
    assert "What a yes would change" in shown
    assert "Free now" in shown
    assert "the project lead" in shown


def test_a_decided_request_stays_findable(visit, world):
    shown = visit("lead").open("/approvals/decided/").content.decode()
    assert world.own.lease.request.uid in shown


def test_an_inbox_that_overflows_shows_the_oldest_and_says_how_many_follow(
    visit, world, monkeypatch
):
    monkeypatch.setattr("portal.pages.approvals.INBOX", 3)
    for _ in range(5):
        world.own.asked()
    lead = visit("lead")
    page = lead.open("/approvals/").content.decode()
    assert page.count("data-open") == 3
    assert "3 more wait" in page


def test_who_asks_for_the_first_time_is_marked_whatever_they_ask_for_next(visit, world):
    from_then = world.own.request.submitted_at
    for number in range(1, 3):
        world.own.asked(submitted_at=from_then + timedelta(hours=number))
    page = visit("lead").open("/approvals/").content.decode()
    assert page.count("first request") == 1
