"""A small demo in a real database: rules kept, books balanced, every page alive."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from billing.models import Budget, Posting, Usage
from billing.selectors.reconciling import differences
from pool.lifecycle.workloads import ENDED
from pool.models import (
    Alert,
    Attempt,
    Card,
    Event,
    Hold,
    JoinToken,
    Node,
    Request,
    Slice,
    User,
    Workload,
)
from portal.demo.make import demo_make, is_demo
from portal.demo.plan import DemoPlan
from portal.first_run.fleet import BadFleet
from portal.first_run.run import Plan, first_run
from portal.pages.urls import urlpatterns
from portal.up.refusal import Refused

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]

_NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
UNTIL = _NOW - timedelta(days=(_NOW.weekday() - 3) % 7)
"""The newest Thursday: three working days, so that every run of the test has as much work."""


@pytest.fixture
def made(tmp_path):
    plan = DemoPlan(data=tmp_path / "data", cards=40, days=3, seed=7, until=UNTIL)
    demo_make(plan=plan, say=lambda _line: None)
    return plan


def pages():
    return [str(one.pattern) for one in urlpatterns if "<" not in str(one.pattern)]


def test_a_small_demo_keeps_every_rule_and_shows_every_page(made, client, tmp_path):
    assert Card.objects.count() == 40
    assert Card.objects.values("label").distinct().count() >= 5
    assert Attempt.objects.count() > 100
    assert not Hold.objects.filter(held__upper_inf=True).exists()
    assert not Slice.objects.exclude(state="gone").exists()
    assert set(Workload.objects.values_list("state", flat=True)) <= {*ENDED, "queued", "stopped"}
    answers = set(Request.objects.values_list("state", flat=True))
    assert "submitted" in answers
    assert answers & {"approved", "rejected"}
    told = Event.objects.filter(kind__startswith="request.").order_by("pk")
    times = list(told.values_list("at", flat=True))
    assert len(times) > 4 and times == sorted(times), "later events have later times"
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pool_clockshift")
        assert cursor.fetchone()[0] == 0, "the clock is the machine's again"
        cursor.execute("SELECT count(*) FROM pool_rollup_hour WHERE slice_id IS NULL")
        assert cursor.fetchone()[0] == 40 * 3 * 24, "each card and hour was measured"
        cursor.execute("SELECT count(*) FROM pool_rollup_minute WHERE slice_id IS NULL")
        assert cursor.fetchone()[0] == 40 * 24 * 60, "of the last day by the minute"
        cursor.execute("SELECT count(*), max(at) FROM pool_sample WHERE slice_id IS NULL")
        assert cursor.fetchone() == (40 * 3 * 360, made.until - timedelta(seconds=10))
        for table in ("pool_rollup_hour", "pool_rollup_minute", "pool_sample"):
            cursor.execute(f"SELECT count(*) FROM {table}_default")
            assert cursor.fetchone()[0] == 0, table
    _every_resolution_says_the_same(made)
    _alerts_come_from_the_month(made)
    assert Usage.objects.exists()
    assert Posting.objects.exists()
    assert Budget.objects.count() > 3
    assert differences(since=made.since, until=made.until) == []
    call_command("reconcile")
    client.force_login(User.objects.get(username="pat"))
    for path in pages():
        answer = client.get(f"/{path}")
        assert answer.status_code in (200, 302, 405), (path, answer.status_code)
        if answer.status_code == 200 and b"<title>" in answer.content:
            assert b"(demo)</title>" in answer.content, path
            assert b"data-demo" in answer.content, path
    known = json.loads((made.data / "credentials.json").read_text(encoding="utf-8"))
    assert {"pat", "olga", "lena", "mei"} <= {one["username"] for one in known}
    assert is_demo(made.data)
    with pytest.raises(Refused):
        demo_make(plan=made, say=lambda _line: None)
    _up_finds_its_nodes(made)


def _every_resolution_says_the_same(made):
    """The readings of the last hour, minute by minute and as they came, make the hour's row."""
    words = {"since": made.until - timedelta(hours=1), "until": made.until}
    place = "[2]"  # sm
    with connection.cursor() as cursor:
        for table, value in (
            ("pool_rollup_hour", f"mean{place}"),
            ("pool_rollup_minute", f"mean{place}"),
            ("pool_sample", "sm_mean"),
        ):
            cursor.execute(
                f"SELECT card_id, sum({value} * seconds) / 3600 FROM {table} WHERE slice_id IS NULL"
                " AND at >= %(since)s AND at < %(until)s GROUP BY 1 ORDER BY 1",
                words,
            )
            words[table] = cursor.fetchall()
    hours = words["pool_rollup_hour"]
    assert len(hours) == 40 and any(use > 5 for _card, use in hours)
    for table in ("pool_rollup_minute", "pool_sample"):
        assert [pk for pk, _use in words[table]] == [pk for pk, _use in hours]
        for (_pk, one), (_same, use) in zip(hours, words[table], strict=True):
            assert abs(one - use) < 0.5, table


def _alerts_come_from_the_month(made):
    """A card that broke has its alert then, over when it was mended; rules have fired."""
    faults = Alert.objects.filter(key__startswith="card:")
    moves = Event.objects.filter(kind="card.moved", data__to="cordoned")
    assert faults.count() == moves.count() > 0
    assert set(faults.values_list("state", flat=True)) == {"resolved"}
    cordoned = sorted(moves.values_list("at", flat=True))
    for fired, moved in zip(
        sorted(faults.values_list("fired_at", flat=True)), cordoned, strict=True
    ):
        assert abs((fired - moved).total_seconds()) < 5
    ruled = Alert.objects.exclude(rule=None)
    assert ruled.count() > 3
    assert all(one.fired_at <= made.until for one in ruled.filter(state="resolved"))


def _up_finds_its_nodes(made):
    """What `up` does first: it changes nothing, and gives each machine a token to join with."""
    before = User.objects.count()
    mode = first_run(Plan(mode="demo", data=made.data, fleet=made.data / "fleet.yaml"))
    assert mode == "demo"
    assert User.objects.count() == before
    names = set(Node.objects.values_list("name", flat=True))
    assert set(JoinToken.objects.values_list("node_name", flat=True)) == names


def test_the_same_seed_brings_the_same_month():
    from portal.demo.stream import wishes

    words = {
        "since": datetime(2026, 3, 1, tzinfo=UTC),
        "until": datetime(2026, 3, 8, tzinfo=UTC),
        "cards": {"a100": 128, "h100": 72},
        "zones": dict.fromkeys(("vision", "speech", "language", "recsys"), "Europe/Berlin")
        | {"robotics": "America/New_York", "biology": "Asia/Kolkata", "render": "Asia/Shanghai"},
    }
    assert wishes(seed=5, **words) == wishes(seed=5, **words)
    assert wishes(seed=5, **words) != wishes(seed=6, **words)


def test_no_other_installation_is_filled_or_taken_for_a_demo(tmp_path):
    User.objects.create(username="somebody")
    plan = DemoPlan(data=tmp_path, cards=8, days=1, seed=1, until=UNTIL)
    with pytest.raises(Refused):
        demo_make(plan=plan, say=lambda _line: None)
    with pytest.raises(CommandError):
        call_command("demo", "--data-dir", str(tmp_path), "--cards", "8", "--days", "1")
    with pytest.raises(BadFleet):
        first_run(Plan(mode="demo", data=tmp_path))


def test_a_size_that_no_fleet_has_is_refused(tmp_path):
    for words in (["--cards", "0"], ["--cards", "301"], ["--days", "0"], ["--days", "1000"]):
        with pytest.raises(CommandError):
            call_command("demo", "--data-dir", str(tmp_path), *words)
