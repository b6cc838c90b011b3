"""What may be done at the queue: explain, change, rank, hold, watch waits, try a policy."""

import json
import re

import pytest

from pool.clock import now
from pool.cycle.round import run_rounds
from pool.events import SYSTEM
from pool.models import Installation, LearnedBandwidth, Workload
from pool.services.queueing.steer import project_queue_hold
from portal import explained
from tests import rows

WHOLE = {"parts": 1, "whole": True}


@pytest.fixture
def queue(world):
    """Only what the test puts in waits; the pool is one node of four cards."""
    Workload.objects.filter(state="queued").update(state="cancelled")

    def put(tenant, name, parts=1, **more):
        need = WHOLE | {"parts": parts}
        return tenant.work(name=name, name_folded=name, need=need, **more)

    return put


def item(work, verb=""):
    return f"/queue/items/{work.uid}/{verb}"


def waits(queue, tenant):
    """Work for four cards, beside a job that runs on one of them."""
    queue(tenant, "runs")
    run_rounds()
    work = queue(tenant, "wide", parts=4)
    run_rounds()
    return work


def shown(answer, status=200):
    assert answer.status_code == status, answer.content
    return answer.content.decode()


def test_the_panel_tells_the_reason_the_filters_and_what_would_start_it(visit, queue, world):
    work = waits(queue, world.own)
    text = shown(visit("member").part(item(work)))
    assert "not enough cards are free together" in text
    assert "Of 4 candidates" in text
    assert "Use 3 cards" in text and "Apply" in text
    assert "2,000 class" in text
    assert "Use 3 cards" in shown(visit("viewer").part(item(work)))
    assert "Apply" not in shown(visit("viewer").part(item(work)))


def test_the_panel_tells_which_runs_make_the_job_heavy_on_bandwidth(visit, queue, world):
    work = waits(queue, world.own)
    version = work.template_version
    version.bandwidth = "measured"
    version.save(update_fields=["bandwidth"])
    showed = {"heavy": True, "runs": 6, "heavy_runs": 4, "percent": 71.0, "learned_at": now()}
    LearnedBandwidth.objects.create(version=version, **showed)
    words = "4 of the last 6 measured runs of this template were"
    assert words in shown(visit("member").part(item(work)))


def test_a_change_is_applied_with_one_click_and_the_job_starts(visit, queue, world):
    work = queue(world.own, "wide", parts=6)
    run_rounds()
    member = visit("member")
    answer = member.send(item(work, "change/"), {"change": "fewer_cards", "amount": "4"})
    shown(answer)
    assert "queue-changed" in answer["HX-Trigger"] and "toast" in answer["HX-Trigger"]
    run_rounds()
    work.refresh_from_db()
    assert (work.state, work.need["parts"]) == ("placed", 4)


def test_a_refused_change_says_what_changed(visit, queue, world):
    work = waits(queue, world.own)
    member = visit("member")
    queue(world.own, "short", parts=2, expected_seconds=60)
    run_rounds()
    answer = member.send(item(work, "change/"), {"change": "fewer_cards", "amount": "3"})
    text = shown(answer, 409)
    assert "with this it would still wait, because not enough cards are free together" in text
    shown(member.send(item(work, "change/"), {"change": "nonsense"}), 422)
    work.refresh_from_db()
    assert work.need["parts"] == 4


def test_work_that_waits_no_more_says_so_and_its_page_shows_no_panel(visit, queue, world):
    work = queue(world.own, "small")
    run_rounds()
    member = visit("member")
    assert "does not wait in the queue any more" in shown(member.part(item(work)))
    assert shown(member.part(item(work) + "?on=page")) == ""


def test_a_lead_raises_a_job_with_a_reason_and_a_member_may_not(visit, queue, world):
    first, second = queue(world.own, "first", parts=4), queue(world.own, "second", parts=4)
    lead, said = visit("lead"), {"priority": "high", "reason": "a deadline"}
    shown(lead.send(item(second, "rank/"), said))
    run_rounds()
    states = dict(Workload.objects.values_list("pk", "state"))
    assert (states[first.pk], states[second.pk]) == ("queued", "placed")
    for bad in ({"priority": "critical", "reason": "x"}, {"priority": "high", "reason": ""}):
        shown(lead.send(item(first, "rank/"), bad), 422)
    shown(visit("member").send(item(first, "rank/"), said), 403)


def test_work_is_held_and_released_from_the_queue(visit, queue, world):
    work = queue(world.own, "mine")
    member = visit("member")
    assert "On hold" in shown(member.send(item(work, "hold/"), {}))
    run_rounds()
    work.refresh_from_db()
    assert work.state == "on_hold"
    shown(member.send(item(work, "release/"), {}))
    run_rounds()
    work.refresh_from_db()
    assert work.state == "placed"


def test_what_a_lead_holds_from_the_queue_a_lead_releases_and_its_owner_does_not(
    visit, queue, world
):
    work = queue(world.own, "mine")
    shown(visit("lead").send(item(work, "hold/"), {}))
    work.refresh_from_db()
    assert work.hold_strict
    assert visit("member").send(item(work, "release/"), {}).status_code == 422
    work.refresh_from_db()
    assert work.state == "on_hold"
    shown(visit("lead").send(item(work, "release/"), {}))
    work.refresh_from_db()
    assert work.state == "queued"


def test_anothers_item_is_not_there_whatever_is_asked_of_it(visit, queue, world):
    work = queue(world.other, "secret", parts=6)
    run_rounds()
    for role in ("member", "org_admin", "billing_reader"):
        assert visit(role).part(item(work)).status_code == 404
        for verb in ("change/", "rank/", "hold/", "release/"):
            assert visit(role).send(item(work, verb), {}).status_code == 404, (role, verb)


def test_who_asks_too_often_still_reads_the_last_reason(visit, queue, world, monkeypatch):
    work = waits(queue, world.own)
    monkeypatch.setattr(explained.ASKED, "limit", 0)
    text = shown(visit("member").part(item(work)))
    assert "You asked for many explanations" in text
    assert "not enough cards are free together" in text


def test_who_asks_for_changes_too_often_waits_and_holds_no_rounds_up(
    visit, queue, world, monkeypatch
):
    work = waits(queue, world.own)
    monkeypatch.setattr(explained.CHANGED, "limit", 0)
    sent = {"change": "fewer_cards", "amount": "3"}
    text = shown(visit("member").send(item(work, "change/"), sent), 422)
    assert "You tried many changes" in text
    url = f"/api/v1/workloads/{work.uid}/change/"
    answer = world.by("member").post(url, {"change": "fewer_cards", "amount": 3})
    assert answer.status_code == 429 and int(answer["Retry-After"]) > 0
    work.refresh_from_db()
    assert work.need["parts"] == 4


def test_the_heads_plan_names_ones_own_work_and_draws_anothers_without_a_name(visit, queue, world):
    queue(world.other, "secret-runs", parts=3, expected_seconds=900)
    run_rounds()
    queue(world.own, "ours-next", parts=4)
    run_rounds()
    text = shown(visit("member").part("/queue/heads/"))
    assert "ours-next" in text and "secret" not in text
    assert re.search("when another team.{1,6}s work ends", text)
    chart = json.loads(re.search(r'type="application/json">(.*?)</script>', text).group(1))
    kinds = [[bar["kind"] for bar in lane["bars"]] for lane in chart["lanes"]]
    assert sorted(kinds) == [["gap", "head"], *[["running", "head"]] * 3]
    names = {(bar["kind"], bar["name"]) for lane in chart["lanes"] for bar in lane["bars"]}
    assert names == {("running", "another team's work"), ("gap", ""), ("head", "ours-next")}
    other = shown(visit("stranger").part("/queue/heads/"))
    assert "ours-next" not in other and "secret-runs" in other


def test_an_idle_pool_has_no_heads(visit, queue):
    assert shown(visit("member").part("/queue/heads/")).strip() == ""


def test_waits_show_ones_own_teams_and_the_rounds(visit, queue, world):
    queue(world.own, "ours", parts=6)
    queue(world.other, "theirs", parts=6)
    run_rounds()
    text = shown(visit("member").open("/queue/waits/"))
    assert "Last rounds" in text and "Target:" in text
    assert world.own.project.name in text.split("<main")[1]
    assert world.other.project.name not in text.split("<main")[1]
    assert "queue/target" not in text and "Hold back" not in text


def test_the_target_is_the_platforms_to_set(visit, world):
    admin = visit("platform_admin")
    shown(admin.send("/queue/target/", {"minutes": "10"}))
    assert Installation.objects.get().wait_target_s == 600
    assert "From one minute to 30 days." in shown(
        admin.send("/queue/target/", {"minutes": "x"}), 422
    )
    assert visit("org_admin").send("/queue/target/", {"minutes": "5"}).status_code == 403
    assert Installation.objects.get().wait_target_s == 600


def test_an_admin_holds_a_projects_queue_with_a_reason_and_releases_it(visit, queue, world):
    work = queue(world.own, "ours")
    admin, path = visit("org_admin"), f"/queue/projects/{world.own.project.slug}"
    shown(admin.send(f"{path}/hold/", {"reason": ""}), 422)
    assert "held back: an audit" in shown(admin.send(f"{path}/hold/", {"reason": "an audit"}))
    run_rounds()
    text = shown(visit("member").part("/queue/"))
    assert "queue is held back (an audit)" in text
    shown(admin.send(f"{path}/release/", {}))
    run_rounds()
    work.refresh_from_db()
    assert work.state == "placed"
    assert visit("lead").send(f"{path}/hold/", {"reason": "x"}).status_code == 403
    other = f"/queue/projects/{world.other.project.slug}/hold/"
    assert admin.send(other, {"reason": "x"}).status_code == 404


def test_a_policy_is_tried_by_the_platform_alone_and_shows_who_loses(visit, queue, world):
    queue(world.own, "short", expected_seconds=600)
    run_rounds()
    queue(world.own, "wide", parts=4, priority="high")
    small = queue(world.own, "small", expected_seconds=60)
    admin = visit("platform_admin")
    assert "Choose what to change" in shown(admin.open("/queue/policy/"))
    text = shown(admin.part("/queue/policy/?backfill=no"))
    assert "small" in text and "worse" in text and "starts now" in text
    assert "12345 is not" in shown(admin.part("/queue/policy/?policy=12345"))
    small.refresh_from_db()
    assert small.state == "queued"
    assert visit("org_admin").open("/queue/policy/").status_code == 403


def test_a_filter_by_reason_and_by_partition_leaves_what_is_meant(visit, queue, world):
    held = queue(world.own, "held")
    project_queue_hold(project=held.project, reason="audit", actor=SYSTEM)
    queue(world.own, "wide", parts=6)
    rows.partition(slug="empty", selector={"labels": ["none"]})
    run_rounds()
    member = visit("member")
    reasons = {one["reason"] for one in member.part("/queue/").context["reasons"]}
    for reason in reasons:
        turns = member.part(f"/queue/?reason={reason}").context["turns"]
        assert turns and all(t["work"].waits["reason"] == reason for t in turns)
    assert member.part("/queue/?partition=empty").context["turns"] == []
    assert member.part("/queue/?partition=a100").context["turns"]


def test_pieces_whose_turn_has_not_come_crowd_nobody_out_of_the_queue(visit, queue, world):
    queue(world.own, "piece", waits={"reason": "array", "position": None, "level": "rule"})
    queue(world.own, "other")
    member = visit("member")
    names = [turn["work"].name for turn in member.part("/queue/").context["turns"]]
    assert names == ["other"]
    assert {"reason": "array", "n": 1}.items() <= _chip(member, "array").items()
    turns = member.part("/queue/?reason=array").context["turns"]
    assert [turn["work"].name for turn in turns] == ["piece"]


def _chip(client, reason):
    chips = client.part("/queue/").context["reasons"]
    return next(chip for chip in chips if chip["reason"] == reason)
