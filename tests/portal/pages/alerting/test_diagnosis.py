"""Hints beside a workload and a card, the Diagnose walk, and the baseline week as people see it."""

from datetime import UTC, datetime, timedelta

from pool.clock import now
from pool.models import Attempt, LogChunk, Node
from pool.selectors.alerting.baseline import baseline_of
from pool.services.telemetry.rollups import rollups_due, rollups_touched
from portal.pages.alerting import baseline
from tests.pool.services.telemetry.test_rollups import reads


def running(world):
    run = world.own.placement.attempt
    Attempt.objects.filter(pk=run.pk).update(started_at=now() - timedelta(minutes=5))
    text = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    LogChunk.objects.create(attempt=run, offset=0, size=len(text), text=text)
    return run.workload


def test_a_workload_shows_its_hints_with_numbers_and_the_walk_its_four_steps(visit, world):
    work = running(world)
    member = visit("member")
    part = member.part(f"/workloads/{work.uid}/hints/").content
    assert b"It ran out of card memory" in part
    page = member.open(f"/workloads/{work.uid}/diagnose/").content.decode()
    places = [page.index(f"{n}. ") for n in (1, 2, 3, 4)]
    assert places == sorted(places), "curves, processes, events, log"
    assert "CUDA out of memory" in page
    assert "–" in page, "what is unknown is a dash"


def test_work_that_has_not_run_says_so(visit, world):
    work = world.own.work(name="new")
    assert b"It has not run yet" in visit("member").open(f"/workloads/{work.uid}/diagnose/").content
    assert b"once it has run" in visit("member").part(f"/workloads/{work.uid}/hints/").content


def test_hints_of_a_card_are_for_those_who_run_the_pool(visit, world):
    card = world.own.hold.card
    reads(now() - timedelta(seconds=10), card=card.pk, temperature_c_max=92)
    path = f"/cards/{card.uid}/hints/"
    assert b"The card is hot" in visit("platform_admin").part(path).content
    assert visit("member").part(path).status_code == 403


def test_the_baseline_is_drawn_for_one_node_and_all_with_gaps_as_gaps(visit, world):
    at = now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
    reads(at, seconds=3600, card=world.own.hold.card.pk, util_mean=3)
    rollups_touched(moments=[at])
    rollups_due(most=100)
    member = visit("member")
    page = member.open("/baseline/").content.decode()
    assert page.count("not measured") >= 167
    assert "Empty hours" in page
    assert "not enough for a verdict" in page
    node = Node.objects.get(pk=world.own.hold.card.node_id)
    for number in ("util_p95", "sm", "occupancy", "memory", "odd"):
        path = f"/baseline/?node={node.uid}&number={number}&days=28"
        assert member.open(path).status_code == 200


def test_the_week_is_read_once_an_hour_however_many_look(visit, world, monkeypatch):
    read = []

    def counted(**given):
        read.append(given["days"])
        return baseline_of(**given)

    monkeypatch.setattr(baseline, "baseline_of", counted)
    member = visit("member")
    monkeypatch.setattr(baseline, "now", lambda: datetime(2026, 5, 4, 10, 59, tzinfo=UTC))
    for number in ("util", "sm"):
        assert member.open(f"/baseline/?number={number}").status_code == 200
    assert world.by("lead").post("baseline", {"days": 7}).status_code == 200
    assert read == [7]
    assert member.open("/baseline/?days=14").status_code == 200
    monkeypatch.setattr(baseline, "now", lambda: datetime(2026, 5, 4, 11, 0, tzinfo=UTC))
    assert member.open("/baseline/").status_code == 200
    assert read == [7, 14, 7]


def test_scripts_ask_for_the_week_and_for_hints(world):
    work = running(world)
    member = world.by("member")
    week = member.post("baseline", {"days": 14, "zone": "Asia/Shanghai"}).json()
    assert len(week["hours"]) == 168
    assert week["enough"] is False
    assert member.post("baseline", {"zone": "Mars"}).status_code == 400
    assert member.post("baseline", {"node": "nd-none"}).status_code == 400
    told = member.post("baseline/diagnose", {"workload": work.uid}).json()
    assert "oom" in [one["key"] for one in told["findings"]]
    assert told["figures"]["util"] is None
    other = member.post("baseline/diagnose", {"workload": world.other.workload.uid})
    assert other.status_code == 400
