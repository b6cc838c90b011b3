"""Readings stored a second beside a bare COPY of the same rows; a month of one among many cards."""

import os
import time
from datetime import timedelta

import pytest
from django.db import connection

from nodeagent.protocol.samples import Reading, SampleBatch
from pool.clock import now
from pool.models.telemetry.rollups import HOUR_S, METRICS
from pool.selectors.telemetry.series import series_of
from pool.services import samples
from pool.services.samples import samples_take
from portal.pages.telemetry.curves import POOL_SHOWN
from tests import rows
from tests.benchmarks.bench_lists import blocks

BATCHES = int(os.environ.get("BENCH_BATCHES", "40"))
CARDS = int(os.environ.get("BENCH_CARDS", "1000"))
DAYS = 30
PER_BATCH, CARDS_A_NODE = 400, 8

FILL = """
INSERT INTO pool_rollup_hour (at, card_id, slice_id, attempt_id, seconds, mean, p95, peak, known)
SELECT h, c, NULL, NULL, 3600, v, v, v, array_fill(3600::float8, ARRAY[%(width)s])
FROM generate_series(1, %(cards)s) AS c,
     generate_series(%(since)s::timestamptz, %(until)s::timestamptz, interval '1 hour') AS h,
     LATERAL (SELECT array_fill((c %% 100)::float8, ARRAY[%(width)s]) AS v) AS made
"""


def _batch(cards, sequence):
    """What a node that was away for a while sends at once: some minutes of all its cards."""
    at = now().timestamp()
    readings = tuple(
        Reading(
            at=at - 10 * (number // len(cards)),
            card=cards[number % len(cards)],
            util_mean=50.0,
            util_max=90.0,
            sm_mean=41.5,
            sm_max=70.0,
            occupancy_mean=30.0,
            memory_mib_mean=10_000.0,
            memory_mib_max=12_000.0,
            bandwidth_mean=20.0,
            pcie_mib_s=900.0,
            nvlink_mib_s=0.0,
            power_w_mean=300.0,
            power_w_max=380.0,
            temperature_c_max=66.0,
        )
        for number in range(PER_BATCH)
    )
    return SampleBatch(boot_id="b1", sequence=sequence, sent_at=at, readings=readings)


@pytest.mark.django_db
@pytest.mark.timeout(3600)
def test_readings_are_stored_nearly_as_fast_as_a_bare_copy():
    rows.partition()
    node = rows.node(cards=CARDS_A_NODE)
    cards = [one.uuid for one in node.cards.all()]
    batches = [_batch(cards, number + 1) for number in range(BATCHES)]
    begun = time.perf_counter()
    taken = sum(samples_take(node=node, batch=one) for one in batches)
    ours = time.perf_counter() - begun
    prepared = [samples._rows(node, one, now(), samples._ran(node, one)) for one in batches]
    begun = time.perf_counter()
    for some in prepared:
        samples._copy(some)
    bare = time.perf_counter() - begun
    assert taken == BATCHES * PER_BATCH
    print(  # noqa: T201
        f"\n{taken} readings: {taken / ours:.0f} a second, bare COPY {taken / bare:.0f};"
        f" ratio {bare / ours:.2f}"
    )


def _a_month():
    """Hours of a month of so many cards; its ends."""
    until = now().replace(minute=0, second=0, microsecond=0)
    since = until - timedelta(days=DAYS)
    with connection.cursor() as cursor:
        for month in {since.date().replace(day=1), until.date().replace(day=1)}:
            cursor.execute("SELECT pool_rollup_hour_for(%s)", [month])
        words = {"cards": CARDS, "since": since, "until": until, "width": len(METRICS)}
        cursor.execute(FILL, words)
        cursor.execute("ANALYZE pool_rollup_hour")
    return since, until


@pytest.mark.django_db
@pytest.mark.timeout(3600)
def test_a_month_of_one_card_and_of_all_cards_together():
    since, until = _a_month()
    took = []
    for card in (1, CARDS // 2, CARDS):
        begun = time.perf_counter()
        found = series_of(
            since=since, until=until, metrics=("sm", "memory_mib", "power_w"), card=card
        )
        took.append(time.perf_counter() - begun)
        assert len(found.points) == DAYS * 24
    read = blocks(
        f"SELECT at, mean[2] FROM pool_rollup_hour WHERE card_id = {CARDS // 2}"  # noqa: S608
        f" AND slice_id IS NULL AND at >= '{since.isoformat()}' AND at < '{until.isoformat()}'"
    )
    print(  # noqa: T201
        f"\n{DAYS} days of one of {CARDS} cards: {1000 * min(took):.0f} ms at best,"
        f" {1000 * max(took):.0f} ms at worst, {read} blocks of 8 KiB"
    )
    assert read < 5 * DAYS * 24
    begun = time.perf_counter()
    found = series_of(since=since, until=until, metrics=POOL_SHOWN, pool=True, step=HOUR_S)
    whole = time.perf_counter() - begun
    assert len(found.points) == DAYS * 24
    with connection.cursor() as cursor:
        begun = time.perf_counter()
        cursor.execute(
            "SELECT at, avg(mean[2]) FROM pool_rollup_hour"
            " WHERE slice_id IS NULL AND at >= %s AND at < %s GROUP BY at",
            [since, until],
        )
        assert len(cursor.fetchall()) == DAYS * 24
        bare = time.perf_counter() - begun
    print(  # noqa: T201
        f"\n{DAYS} days of all {CARDS} cards together, {len(POOL_SHOWN)} metrics: {whole:.2f} s;"
        f" the mean of one metric alone {bare:.2f} s, ratio {whole / bare:.1f}"
    )
