"""Readings condensed: means by time, peaks, known seconds; late ones counted; gaps stay gaps."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodeagent.protocol.samples import Reading, SampleBatch
from pool.clock import now
from pool.models import HourRollup, MinuteRollup, RollupDue, Sample
from pool.models.telemetry.rollups import HOUR_S, MINUTE_S, PLACE, ROLLED
from pool.services.samples import samples_take
from pool.services.telemetry.rollups import rollups_due, rollups_touched, stretch
from tests import rows

pytestmark = pytest.mark.django_db
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def reads(at, *, seconds=10, card=1, piece=None, attempt=None, **values):
    names = ["at", "card_id", "slice_id", "attempt_id", "seconds", "fidelity", *values]
    given = [at, card, piece, attempt, seconds, "measured", *values.values()]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO pool_sample ({', '.join(names)}) "  # noqa: S608
            f"VALUES ({', '.join(['%s'] * len(given))})",
            given,
        )


def condensed(*moments):
    rollups_touched(moments=moments)
    return rollups_due()


def of(row, name):
    place = PLACE[name]
    p95 = row.p95[place] if row.p95 else None
    return row.mean[place], p95, row.peak[place], row.known[place]


def test_a_minute_is_the_mean_by_time_the_peak_and_the_seconds_that_were_known():
    reads(START, sm_mean=80, sm_max=99, memory_mib_mean=1000)
    reads(START + timedelta(seconds=10), seconds=20, sm_mean=20, sm_max=30)
    reads(START + timedelta(seconds=40), util_mean=5)
    assert condensed(START) == 2
    (row,) = MinuteRollup.objects.all()
    assert (row.at, row.card_id, row.seconds) == (START, 1, 40)
    assert of(row, "sm") == (pytest.approx(40), None, 99, 30)
    assert of(row, "memory_mib") == (1000, None, 1000, 10)
    assert of(row, "power_w") == (None, None, None, 0), "unknown is not 0"


def test_an_hour_has_the_95th_percentile_of_its_readings():
    for number in range(100):
        reads(START + timedelta(seconds=10 * number), sm_mean=number)
    condensed(START)
    (row,) = HourRollup.objects.all()
    mean, p95, peak, known = of(row, "sm")
    assert (mean, peak, known) == (pytest.approx(49.5), 99, 1000)
    assert p95 == pytest.approx(94.05, abs=0.01)


def test_cards_slices_and_attempts_are_kept_apart_and_gaps_stay_gaps():
    reads(START, sm_mean=50)
    reads(START, piece=7, attempt=3, sm_mean=70)
    reads(START + timedelta(minutes=2), piece=7, attempt=4, sm_mean=10)
    condensed(START)
    found = {(r.at.minute, r.slice_id, r.attempt_id) for r in MinuteRollup.objects.all()}
    assert found == {(0, None, None), (0, 7, 3), (2, 7, 4)}


def test_readings_that_come_late_are_counted_and_nothing_is_counted_twice():
    reads(START, sm_mean=50)
    assert condensed(START) == 2
    RollupDue.objects.update(rolled_at=now() - timedelta(hours=1))
    reads(START + timedelta(seconds=10), sm_mean=100)
    assert condensed(START) == 2
    for table in (MinuteRollup, HourRollup):
        (row,) = table.objects.all()
        assert of(row, "sm")[0] == pytest.approx(75)
        assert row.seconds == 20


def test_what_was_not_touched_since_is_left_alone():
    reads(START, sm_mean=50)
    condensed(START)
    RollupDue.objects.update(touched_at=now() - timedelta(minutes=5))
    assert rollups_due() == 0


def test_a_stretch_touched_just_before_it_was_condensed_is_condensed_once_more():
    """Its batch may not have been committed yet."""
    reads(START, sm_mean=50)
    condensed(START)
    RollupDue.objects.update(rolled_at=now() - timedelta(seconds=11))
    assert rollups_due() == 2


def test_a_batch_of_a_node_marks_what_it_touches():
    node = rows.node()
    (card,) = node.cards.all()
    at = 1_000_000.0
    reading = Reading(card=card.uuid, at=at - 5, seconds=10, fidelity="measured", sm_mean=42.0)
    batch = SampleBatch(boot_id="b", sequence=1, sent_at=at, readings=[reading])
    assert samples_take(node=node, batch=batch) == 1
    moment = Sample.objects.get().at
    assert {(row.step, row.at) for row in RollupDue.objects.all()} == {
        (MINUTE_S, stretch(moment, MINUTE_S)),
        (HOUR_S, stretch(moment, HOUR_S)),
    }
    assert rollups_due() == 2
    assert of(MinuteRollup.objects.get(), "sm")[0] == 42


def test_a_thousand_nodes_do_not_write_the_same_mark_at_once(django_assert_num_queries):
    rollups_touched(moments=[START])
    with django_assert_num_queries(1):
        rollups_touched(moments=[START, START + timedelta(seconds=50)])


def test_every_metric_has_raw_columns():
    names = {field.name for field in Sample._meta.get_fields()}
    assert {column for _name, mean, peak in ROLLED for column in (mean, peak)} <= names


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(
        st.tuples(st.integers(0, 3599), st.integers(1, 10), st.none() | st.integers(0, 100)),
        max_size=30,
    )
)
def test_minutes_and_hours_keep_all_the_time_that_was_covered(readings):
    connection.cursor().execute("TRUNCATE pool_sample, pool_rollup_minute, pool_rollup_hour")
    RollupDue.objects.all().delete()
    for offset, seconds, value in readings:
        reads(START + timedelta(seconds=offset), seconds=seconds, sm_mean=value)
    rollups_touched(moments=[START + timedelta(seconds=offset) for offset, _s, _v in readings])
    rollups_due()
    covered = sum(seconds for _o, seconds, _v in readings)
    known = sum(seconds for _o, seconds, value in readings if value is not None)
    used = sum(seconds * (value or 0) for _o, seconds, value in readings)
    for table in (MinuteRollup, HourRollup):
        found = [(of(row, "sm"), row.seconds) for row in table.objects.all()]
        assert sum(seconds for _told, seconds in found) == pytest.approx(covered)
        assert sum(told[3] for told, _seconds in found) == pytest.approx(known)
        total = sum(told[0] * told[3] for told, _s in found if told[0] is not None)
        assert total == pytest.approx(used, abs=0.1)


@pytest.mark.django_db(transaction=True)
def test_condensing_beside_itself_counts_nothing_twice():
    for number in range(60):
        reads(START + timedelta(minutes=number), sm_mean=50)
    rollups_touched(moments=[START + timedelta(minutes=n) for n in range(60)])

    def work():
        try:
            rollups_due()
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert MinuteRollup.objects.count() == 60
    assert HourRollup.objects.count() == 1
