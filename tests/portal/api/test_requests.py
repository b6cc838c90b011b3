"""Asking and deciding over REST."""

import pytest

from pool.models import Lease, Request, Workload


def body(world, **given):
    return {
        "project": "vision",
        "template": world.version.template.slug,
        "duration_seconds": 3600,
        "purpose": "a paper",
        **given,
    }


def test_a_request_is_sent_approved_and_becomes_a_lease(world):
    asked = world.by("member").post("requests", body(world, copies=2))
    assert asked.status_code == 201, asked.content
    uid = asked.json()["uid"]
    assert (asked.json()["state"], asked.json()["steps"]) == ("submitted", ["lead"])
    waiting = world.by("lead").get("requests?to_decide=true").json()["results"]
    assert uid in [row["uid"] for row in waiting]
    decided = world.by("lead").post(f"requests/{uid}/approve", {"reason": "good"})
    assert decided.status_code == 200, decided.content
    said = decided.json()
    assert (said["state"], said["decided_by"]) == ("approved", "vision-lead")
    lease = Lease.objects.get(uid=said["lease"])
    assert lease.copies == 2
    shown = world.by("member").get(f"leases?request={uid}").json()["results"]
    assert [row["uid"] for row in shown] == [lease.uid]


def test_work_beyond_the_allowance_waits_for_the_lead_and_runs_after_the_yes(world):
    need = {"memory_gb": 80, "parts": 4}
    job = world.by("member").post("workloads", world.job(need=need, expected_seconds=7200)).json()
    assert job["state"] == "awaiting_approval", job
    world.by("lead").post(f"requests/{job['request']}/approve", {})
    after = world.by("member").get(f"workloads/{job['uid']}").json()
    assert (after["state"], after["entitlement"]) == ("queued", "lease")


def test_nobody_decides_on_a_request_of_their_own(world):
    lead = world.by("lead")
    uid = lead.post("requests", body(world)).json()["uid"]
    for verb, given in (("approve", {}), ("reject", {"reason": "no"})):
        answer = lead.post(f"requests/{uid}/{verb}", given)
        assert (answer.status_code, answer.json()["code"]) == (403, "own_request")
    assert Request.objects.get(uid=uid).state == "submitted"


def test_a_decision_on_an_older_reading_is_stale(world):
    member, lead = world.by("member"), world.by("lead")
    asked = member.post("requests", body(world)).json()
    changed = member("PATCH", f"requests/{asked['uid']}", {"copies": 3})
    assert changed.json()["revision"] > asked["revision"]
    answer = lead.post(f"requests/{asked['uid']}/approve", {"revision": asked["revision"]})
    assert (answer.status_code, answer.json()["code"]) == (409, "stale")
    assert not Lease.objects.filter(request__uid=asked["uid"]).exists()


def test_what_is_asked_back_is_answered_and_sent_again(world):
    member, lead = world.by("member"), world.by("lead")
    uid = member.post("requests", body(world)).json()["uid"]
    back = lead.post(f"requests/{uid}/ask-back", {"reason": "for how long?"})
    assert back.json()["state"] == "returned"
    assert member.post(f"requests/{uid}/comment", {"text": "an hour"}).status_code == 201
    words = lead.get(f"requests/{uid}/comments").json()["results"]
    assert [w["text"] for w in words] == ["for how long?", "an hour"]
    assert member.post(f"requests/{uid}/submit").json()["state"] == "submitted"


def test_a_lead_grants_less_than_was_asked(world):
    uid = world.by("member").post("requests", body(world, copies=4)).json()["uid"]
    changes = {"changes": {"copies": 1, "duration_seconds": 600}}
    assert world.by("lead").post(f"requests/{uid}/approve", changes).status_code == 200
    lease = Lease.objects.get(request__uid=uid)
    assert lease.copies == 1
    assert (lease.valid.upper - lease.valid.lower).total_seconds() == 600


def test_a_second_word_is_told_who_was_first(world):
    uid = world.by("member").post("requests", body(world)).json()["uid"]
    world.by("lead").post(f"requests/{uid}/reject", {"reason": "full"})
    answer = world.by("org_admin").post(f"requests/{uid}/approve", {})
    assert (answer.status_code, answer.json()["code"]) == (409, "already_decided")
    assert answer.json()["detail"]["by"] == "vision-lead"


def test_a_draft_is_nobodys_business_until_it_is_sent(world):
    uid = world.by("member").post("requests", body(world, draft=True)).json()["uid"]
    waiting = world.by("lead").get("requests?to_decide=true").json()["results"]
    assert uid not in [row["uid"] for row in waiting]
    assert world.by("member").post(f"requests/{uid}/submit").json()["state"] == "submitted"
    assert world.by("member").post(f"requests/{uid}/withdraw").json()["state"] == "withdrawn"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"project": "speech"}, "project"),
        ({"template": "none"}, "template"),
        ({"duration_seconds": 0}, "duration_seconds"),
        ({"duration_seconds": 10**12}, "duration_seconds"),
        ({"duration_seconds": None}, "duration_seconds"),
        ({"copies": 0}, "copies"),
        ({"copies": 1.5}, "copies"),
        ({"title": "t" * 121}, "title"),
        ({"purpose": "\x00"}, "purpose"),
        ({"purpose": "p" * 4001}, "purpose"),
        ({"lease_kind": "forever"}, "lease_kind"),
        ({"starts_at": "yesterday"}, "starts_at"),
        ({"starts_at": "2199-01-01T00:00:00Z"}, "starts_at"),
        ({"need": {"memory_gb": "much"}}, "memory_gb"),
        ({"partitions": ["none"]}, "partitions"),
        ({"partitions": [None]}, "partitions"),
    ],
)
def test_a_wrong_value_is_named_and_nothing_is_written(world, given, field):
    before = Request.objects.count()
    answer = world.by("member").post("requests", body(world, **given))
    assert answer.status_code == 400, answer.content
    assert field in answer.json()["detail"], answer.json()
    assert Request.objects.count() == before


@pytest.mark.parametrize("verb", ["reject", "ask-back"])
@pytest.mark.parametrize("given", [{}, {"reason": ""}, {"reason": "r" * 4001}, {"reason": None}])
def test_a_refusal_needs_a_reason(world, verb, given):
    answer = world.by("lead").post(f"requests/{world.own.request.uid}/{verb}", given)
    assert (answer.status_code, list(answer.json()["detail"])) == (400, ["reason"])


def test_asking_for_what_no_card_can_hold_is_refused_at_once(world):
    answer = world.by("member").post("requests", body(world, need={"memory_gb": 500}))
    assert (answer.status_code, answer.json()["code"]) == (422, "impossible")
    assert not Workload.objects.filter(state="awaiting_approval").exists()
