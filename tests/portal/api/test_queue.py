"""The queue over REST: order, others as numbers, changes, ranks, waits and a policy to try."""

import pytest

from pool.cycle.round import run_rounds
from pool.models import Workload
from portal import explained

WHOLE = {"parts": 1, "whole": True}
FIELDS = ("uid", "name", "project", "owner", "priority", "position", "waits")


@pytest.fixture
def queue(world):
    """Only what the test puts in waits; the pool is one node of four cards."""
    Workload.objects.filter(state="queued").update(state="cancelled")

    def put(tenant, name, parts=1, **more):
        need = WHOLE | {"parts": parts}
        return tenant.work(name=name, name_folded=name, need=need, **more)

    return put


def lines(answer):
    assert answer.status_code == 200, answer.content
    return [one["name"] or one["others"] for one in answer.json()["results"]]


def test_the_list_is_in_order_and_others_are_a_number_of_which_nothing_is_told(world, queue):
    queue(world.own, "first", parts=9)
    queue(world.other, "secret", parts=9)
    run_rounds()
    member = world.by("member")
    shown = lines(member.get("queue"))
    assert sorted(map(str, shown)) == ["1", "first"]
    hidden = next(one for one in member.get("queue").json()["results"] if one["others"])
    assert all(hidden[name] is None for name in FIELDS)
    assert b"secret" not in member.get("queue").content
    own = next(one for one in member.get("queue").json()["results"] if one["uid"])
    assert own["waits"]["rank"].keys() >= {"band", "share", "class", "priority", "age"}


def test_pages_follow_each_other_and_an_odd_cursor_is_refused(world, queue):
    for number in range(5):
        queue(world.own, f"w{number}", parts=9)
    run_rounds()
    member, seen, path = world.by("member"), [], "queue?page_size=2"
    while path:
        answer = member.get(path)
        seen += lines(answer)
        path = (answer.json()["next"] or "").replace("http://testserver", "")
    assert sorted(seen) == [f"w{number}" for number in range(5)]
    for odd in ("x", "MQ", "LTEuMg", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5LjE"):
        assert member.get(f"queue?cursor={odd}").status_code == 400, odd


def test_filters_leave_only_the_callers_own(world, queue):
    queue(world.own, "mine", parts=9)
    leads = queue(world.own, "leads", parts=9)
    Workload.objects.filter(pk=leads.pk).update(owner=world.by("lead").user)
    queue(world.other, "theirs", parts=9)
    run_rounds()
    member = world.by("member")
    assert lines(member.get("queue?mine=true")) == ["mine"]
    assert sorted(lines(member.get("queue?project=vision"))) == ["leads", "mine"]
    assert lines(member.get("queue?project=speech")) == []
    assert sorted(lines(member.get("queue?partition=a100"))) == ["leads", "mine"]
    assert lines(member.get("queue?reason=new")) == []
    assert member.get("queue?reason=nonsense").status_code == 400
    assert member.get("queue?place=1").status_code == 400


def test_an_offered_change_is_applied_and_the_work_starts(world, queue):
    work = queue(world.own, "wide", parts=6)
    run_rounds()
    member = world.by("member")
    path = f"workloads/{work.uid}"
    (offer, *_) = member.post(f"{path}/explain").json()["changes"]
    asked = {"change": offer["change"], "amount": offer["amount"]}
    assert offer["change"] == "fewer_cards"
    assert member.post(f"{path}/change", asked).status_code == 200
    run_rounds()
    assert member.get(path).json()["state"] == "placed"


def test_a_change_that_helps_no_more_is_refused_with_the_reason(world, queue):
    work = queue(world.own, "wide", parts=6)
    run_rounds()
    answer = world.by("member").post(
        f"workloads/{work.uid}/change", {"change": "fewer_cards", "amount": 5}
    )
    assert answer.status_code == 409
    told = answer.json()
    assert (told["code"], told["detail"]["why"]) == ("helps_no_more", "waits")
    assert told["detail"]["waits"]["reason"]


def test_a_lead_ranks_inside_the_project_and_nobody_grants_critical_so(world, queue):
    work = queue(world.own, "late", parts=9)
    lead, path = world.by("lead"), f"workloads/{work.uid}/rank"
    answer = lead.post(path, {"priority": "high", "reason": "a deadline"})
    assert (answer.status_code, answer.json()["priority"]) == (200, "high")
    assert lead.post(path, {"priority": "critical", "reason": "x"}).status_code == 400
    assert lead.post(path, {"priority": "low"}).status_code == 400
    assert world.by("member").post(path, {"priority": "low", "reason": "x"}).status_code == 403


def test_too_many_explanations_have_to_wait(world, queue, monkeypatch):
    monkeypatch.setattr(explained.ASKED, "limit", 1)
    works = [queue(world.own, f"w{n}", parts=9) for n in range(2)]
    member = world.by("member")
    assert member.post(f"workloads/{works[0].uid}/explain").status_code == 200
    answer = member.post(f"workloads/{works[1].uid}/explain")
    assert (answer.status_code, answer.json()["code"]) == (429, "throttled")
    assert int(answer["Retry-After"]) > 0


def test_a_held_project_starts_nothing_until_it_is_released(world, queue):
    work = queue(world.own, "ours")
    admin = world.by("org_admin")
    path = f"projects/{world.own.project.uid}"
    answer = admin.post(f"{path}/hold", {"reason": "an audit"})
    assert answer.json()["queue_held_reason"] == "an audit"
    run_rounds()
    assert world.by("member").get(f"workloads/{work.uid}").json()["state"] == "queued"
    assert admin.post(f"{path}/release").json()["queue_held"] is False
    run_rounds()
    assert world.by("member").get(f"workloads/{work.uid}").json()["state"] == "placed"


def test_waits_are_told_of_the_callers_teams_against_the_target(world, queue):
    queue(world.own, "ours", parts=9)
    queue(world.other, "theirs", parts=9)
    assert world.admin.post("queue/target", {"seconds": 600}).json() == {"seconds": 600}
    (team,) = world.by("member").get("queue/waits").json()["results"]
    assert (team["project"], team["waiting"], team["target_s"]) == ("vision", 1, 600)
    assert len(world.admin.get("queue/waits").json()["results"]) == 2


def test_a_policy_is_tried_on_the_queue_and_changes_nothing(world, queue):
    queue(world.own, "short", parts=1, expected_seconds=600)
    run_rounds()
    queue(world.own, "wide", parts=4, priority="high")
    queue(world.own, "small", parts=1, expected_seconds=60)
    answer = world.admin.post("queue/dry-run", {"backfill": False})
    assert answer.status_code == 200, answer.content
    told = answer.json()
    assert (told["waiting"], told["starts_before"], told["starts_after"]) == (2, 1, 0)
    (turned,) = told["turned"]
    assert (turned["name"], turned["gains"]) == ("small", False)
    assert (turned["before"]["now"], turned["after"]["now"]) == (True, False)
    same = world.admin.post("queue/dry-run", {"partition": "a100", "policy": "spread"}).json()
    assert same["turned"] == []
    assert world.admin.post("queue/dry-run", {"partition": "none"}).status_code == 400
    tried = world.admin.post("queue/dry-run", {"numbers": {"placements_per_round": 1}})
    assert tried.status_code == 200, tried.content
    for odd in ({"heads": 0}, {"raw_days": 3}, {"unknown": 1}, {"backfill": 3}, [1]):
        answer = world.admin.post("queue/dry-run", {"numbers": odd})
        assert answer.status_code == 400, odd
    assert Workload.objects.filter(state="queued").count() == 2
