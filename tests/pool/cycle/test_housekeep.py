"""Tomorrow's tables are there, old days go, old log text goes; audits tell; time alone acts."""

from datetime import timedelta

import pytest
from django.db import connection
from psycopg.types.range import Range

from pool.clock import now
from pool.cycle.audit import audit, breaches_now
from pool.cycle.expire import expire
from pool.cycle.housekeep import housekeep
from pool.cycle.round import run_rounds
from pool.models import (
    Alert,
    Attempt,
    Event,
    Hold,
    Installation,
    Lease,
    LogChunk,
    Quota,
    Request,
    Sample,
    Workload,
)
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db


def tables():
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relname LIKE 'pool_sample_2%'")
        return {name for (name,) in cursor.fetchall()}


def day(ahead):
    return f"pool_sample_{now().date() + timedelta(days=ahead):%Y%m%d}"


def test_the_days_ahead_are_made_and_old_days_are_dropped_whole():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pool_sample_day(%s)", [now().date() - timedelta(days=9)])
        cursor.execute("SELECT pool_sample_day(%s)", [now().date() - timedelta(days=3)])
    assert day(-9) in tables()
    done = housekeep()
    assert done.days_dropped == 1
    assert {day(-3), day(0), day(1), day(2)} <= tables()
    assert day(-9) not in tables()
    assert housekeep().days_dropped == 0


def test_samples_of_days_that_had_no_table_go_after_their_time_too():
    card = rows.node().cards.get()
    for age in (9, 5):
        at = now() - timedelta(days=age)
        Sample.objects.create(at=at, card_id=card.pk, seconds=10, fidelity="measured")
    housekeep()
    assert (now() - Sample.objects.get().at).days == 5


def test_log_text_is_kept_for_its_time():
    rows.partition()
    node = Obedient(rows.node())
    work = rows.workload()
    run_rounds()
    node.turn()
    node.finish(work)
    node.tell()
    attempt = Attempt.objects.get()
    LogChunk.objects.create(attempt=attempt, offset=0, size=1, text="x")
    housekeep()
    assert LogChunk.objects.exists()
    Attempt.objects.update(ended_at=now() - timedelta(days=91))
    assert housekeep().log_pieces == 1


def test_books_in_order_have_nothing_to_tell():
    assert audit() == []
    assert not Alert.objects.exists()


@pytest.mark.handmade_books
def test_broken_books_are_told_once_and_the_alert_ends_when_they_are_mended():
    rows.partition()
    rows.node()
    work = rows.workload()
    row = rows.quota(limit=9, project=work.project, partition=work.partitions.get(), unit="ram_mib")
    Quota.objects.filter(pk=row.pk).update(held=5)
    for _ in range(2):
        (told,) = audit()
        assert "says 5 is held, 0 was taken" in told
    assert Alert.objects.get().state == "firing"
    assert Event.objects.filter(kind="invariant.broken").count() == 1
    Quota.objects.filter(pk=row.pk).update(held=0)
    assert audit() == []
    assert Alert.objects.get().state == "resolved"


@pytest.mark.handmade_books
def test_every_kind_of_breach_is_seen():
    rows.partition()
    node = rows.node(cpu=1500)
    for _ in range(2):
        rows.workload(cpu_milli=700)
    run_rounds()
    assert breaches_now() == []
    first, second = Workload.objects.order_by("pk")
    late = now() - timedelta(hours=1)
    Workload.objects.filter(pk=first.pk).update(state="queued", deadline=None)
    Workload.objects.filter(pk=second.pk).update(deadline=late)
    Hold.objects.filter(slice=None).update(cpu_milli=1000)
    found = " ".join(breaches_now())
    for word in (
        "is open for queued work",
        "is queued with 1 open placements",
        "past its deadline",
        f"node {node.pk} gives",
    ):
        assert word in found


def lease(into, *, state="active", **given):
    version = rows.template()
    asked = Request.objects.create(
        project=into,
        requester=rows.member(into),
        template_version=version,
        duration_seconds=3600,
    )
    ended = Range(now() - timedelta(hours=2), now() - timedelta(hours=1))
    words = {"request": asked, "project": into, "template_version": version, "valid": ended}
    return Lease.objects.create(state=state, **words | given)


def test_a_lease_whose_time_is_up_ends_and_what_still_runs_after_its_grace_is_stopped():
    rows.partition()
    node = Obedient(rows.node())
    into = rows.project()
    row = lease(into)
    work = rows.workload(into=into, lease=row)
    run_rounds()
    node.turn()
    assert expire().ending == 1
    row.refresh_from_db()
    assert row.state == "ending"
    work.refresh_from_db()
    assert (work.state, work.preemptible) == ("running", True)
    Lease.objects.update(deadline=now() - timedelta(seconds=1))
    assert expire().stopped == 1
    node.turn()
    work.refresh_from_db()
    assert (work.state, work.exit_reason) == ("expired", "limit")
    row.refresh_from_db()
    assert row.state == "ended"


def test_work_whose_wait_is_over_asks_for_a_round():
    rows.partition()
    rows.workload(not_before=now() - timedelta(seconds=1))
    before = Installation.objects.get().round_wanted
    assert expire().woken == 1
    assert Installation.objects.get().round_wanted == before + 1


def test_condensed_values_have_their_own_tables_and_ends():
    today = now().date()
    with connection.cursor() as cursor:
        for age in (70, 50):
            cursor.execute("SELECT pool_rollup_minute_for(%s)", [today - timedelta(days=age)])
        for age in (800, 400):
            cursor.execute("SELECT pool_rollup_hour_for(%s)", [today - timedelta(days=age)])

    def names():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT relname FROM pg_class WHERE relname ~ '^pool_rollup_.*_2[0-9]+$'"
            )
            return {name for (name,) in cursor.fetchall()}

    assert housekeep().days_dropped == 2
    assert f"pool_rollup_minute_{today - timedelta(days=50):%Y%m%d}" in names()
    assert f"pool_rollup_minute_{today - timedelta(days=70):%Y%m%d}" not in names()
    assert f"pool_rollup_hour_{today - timedelta(days=400):%Y%m}" in names()
    assert f"pool_rollup_hour_{today - timedelta(days=800):%Y%m}" not in names()
    assert f"pool_rollup_minute_{today + timedelta(days=2):%Y%m%d}" in names()
