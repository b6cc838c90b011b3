"""Drift is seen twice before it is repaired; card-hours are counted by the month."""

from datetime import UTC, datetime, timedelta

import pytest

from pool.clock import now
from pool.cycle.quotatree.targets import books_tended
from pool.cycle.snapshot import take
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaUnit
from pool.models import Event, Hold, Placement, Quota, QuotaDrift, QuotaPeriod
from pool.services.quotatree import drift, periods
from pool.services.quotatree.drift import drift_repair, drifts_swept
from pool.services.quotatree.periods import Span, month_began, month_taken, periods_counted
from tests import rows
from tests.pool.place import settled

pytestmark = pytest.mark.django_db


@pytest.fixture
def place(db):
    return settled()


def long_seen():
    QuotaDrift.objects.update(seen_at=now() - timedelta(minutes=2))


def test_a_row_that_is_off_is_repaired_after_two_looks_that_agree_and_told_of(place):
    place.submit()
    Quota.objects.filter(pk=place.quota.pk).update(held=5, ceiling=5_000_000)
    assert drifts_swept(actor=SYSTEM).repaired == 0
    assert drifts_swept(actor=SYSTEM).repaired == 0
    assert place.held == 5
    long_seen()
    assert drifts_swept(actor=SYSTEM).repaired == 1
    assert place.held == Placement.objects.get().quota_taken[0]["amount"]
    told = [one.kind for one in Event.objects.filter(kind__startswith="quota.")]
    assert told == ["quota.drifted", "quota.repaired"]
    assert drifts_swept(actor=SYSTEM).seen == 0
    row = QuotaDrift.objects.get()
    assert (row.held, row.counted, row.repaired_by) == (5, place.held, "system")


def test_a_difference_that_moved_between_two_looks_is_looked_at_anew(place):
    place.submit()
    Quota.objects.filter(pk=place.quota.pk).update(held=5)
    drifts_swept(actor=SYSTEM)
    long_seen()
    Quota.objects.filter(pk=place.quota.pk).update(held=6)
    assert drifts_swept(actor=SYSTEM).repaired == 0
    long_seen()
    assert drifts_swept(actor=SYSTEM).repaired == 1


def test_a_drift_that_is_gone_is_closed_and_repairs_nothing(place):
    place.submit()
    right = place.held
    Quota.objects.filter(pk=place.quota.pk).update(held=5)
    drifts_swept(actor=SYSTEM)
    told = QuotaDrift.objects.get()
    Quota.objects.filter(pk=place.quota.pk).update(held=right)
    assert drifts_swept(actor=SYSTEM).passed == 1
    assert drift_repair(drift=told, actor=SYSTEM) is False
    assert place.held == right


@pytest.mark.handmade_books
def test_a_row_that_cannot_be_repaired_keeps_no_other_wrong(place, monkeypatch):
    odd = rows.quota(limit=4, project=place.into, partition=place.quota.partition, kind="allowance")
    both = [place.quota.pk, odd.pk]
    Quota.objects.filter(pk__in=both).update(held=5, ceiling=5_000_000)
    drifts_swept(actor=SYSTEM)
    long_seen()
    real = drift._set_right

    def set_right(row, *given):
        if row.pk == odd.pk:
            raise RuntimeError("this row is odd")
        return real(row, *given)

    monkeypatch.setattr(drift, "_set_right", set_right)
    assert drifts_swept(actor=SYSTEM).repaired == 1
    held = dict(Quota.objects.filter(pk__in=both).values_list("pk", "held"))
    assert held == {place.quota.pk: 0, odd.pk: 5}


def test_books_that_are_right_have_no_drift(place):
    place.submit()
    told = books_tended()
    assert (told.drifts.seen, told.periods, told.cutbacks) == (0, 0, 0)


def hours(place, limit, **words):
    given = {"project": place.into, "partition": place.quota.partition} | words
    return rows.quota(limit=limit, unit=QuotaUnit.CARD_SECONDS, **given)


def test_a_month_counts_what_was_held_and_what_runs_has_declared(place):
    row = hours(place, 10_000_000)
    work = place.submit(expected_seconds=7200)
    held = Hold.objects.exclude(slice=None).get()
    periods_counted()
    share = held.equivalents_micro / 1_000_000
    found = QuotaPeriod.objects.get(quota=row)
    assert found.promised == pytest.approx(7200 * share, abs=60)
    assert found.used < 60
    assert found.since <= now()
    assert work.state == "placed"


@pytest.mark.parametrize("label", ["", "A100-80GB"])
def test_work_starts_until_the_month_is_used_up(place, label):
    hours(place, 1000, label=label)
    first = place.submit(expected_seconds=7200)
    assert first.state == "placed"
    periods_counted()
    second = place.submit()
    assert second.state == "queued"
    if not label:
        assert [one.short.unit for one in take(now()).waiting] == ["card_seconds"]
    Quota.objects.filter(unit=QuotaUnit.CARD_SECONDS).update(limit_value=10**9, ceiling=10**9)
    periods_counted()
    assert place.submit().state == "placed"
    second.refresh_from_db()
    assert second.state == "placed"


def test_a_month_begins_where_the_organizations_clocks_say():
    at = datetime(2026, 3, 1, 3, tzinfo=UTC)
    assert month_began(at, "America/New_York").isoformat() == "2026-02-01T00:00:00-05:00"
    assert month_began(at, "Asia/Shanghai").isoformat() == "2026-03-01T00:00:00+08:00"


def test_all_rows_that_are_off_are_set_right_for_one_count_of_what_is_taken(place, monkeypatch):
    place.submit()
    for _ in range(6):
        rows.quota(limit=9, project=rows.project(), partition=place.quota.partition, held=3)
    drifts_swept(actor=SYSTEM)
    long_seen()
    counts = []
    real = drift._counted
    monkeypatch.setattr(drift, "_counted", lambda: counts.append(1) or real())
    assert drifts_swept(actor=SYSTEM).repaired == 6
    assert len(counts) == 2, "one to look, one under the locks"


def test_a_start_is_judged_by_the_last_count_and_what_opened_since(place, monkeypatch):
    row = hours(place, 10_000_000)
    place.submit(expected_seconds=7200)
    periods_counted()
    place.submit(expected_seconds=3600)
    looked = []
    real = periods._summed
    monkeypatch.setattr(periods, "_summed", lambda r, span: looked.append(span) or real(r, span))
    taken = month_taken(row)
    (span,) = looked
    assert span.after == Hold.objects.order_by("pk").values_list("pk", flat=True)[1]
    assert taken == pytest.approx(sum(real(row, Span(span.since, span.at))), abs=5)


def test_a_count_of_last_month_or_of_long_ago_is_not_trusted(place):
    row = hours(place, 10_000_000)
    place.submit(expected_seconds=7200)
    periods_counted()
    right = month_taken(row)
    old = now() - timedelta(hours=1)
    QuotaPeriod.objects.update(used=10**9, counted_at=old)
    assert month_taken(row) == pytest.approx(right, abs=5)
    QuotaPeriod.objects.update(counted_at=now(), since=now() - timedelta(days=40))
    assert month_taken(row) == pytest.approx(right, abs=5)
