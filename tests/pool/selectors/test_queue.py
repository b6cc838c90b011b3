"""The queue is read along its index: what stands before and behind a stretch costs nothing."""

import json

import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext

from pool.models import Workload
from pool.models.workloads import OUT_OF_TURN, UNPLACED
from pool.selectors.memberships import Standing
from pool.selectors.queue import queue_part, queue_reasons
from tests import factories as rows

pytestmark = pytest.mark.django_db

ALL = Standing(platform=True)


def queued(tells):
    """One piece of queued work for each thing that is said of it."""
    shared = {
        "project": rows.project(f"long{next(rows.NUMBERS)}"),
        "owner": rows.user(),
        "template_version": rows.template(f"t{next(rows.NUMBERS)}"),
        "expected_seconds": 60,
        "state": "queued",
    }
    made = [
        Workload(name=f"w{n}", name_folded=f"w{n}", waits=told, **shared)
        for n, told in enumerate(tells)
    ]
    Workload.objects.bulk_create(made, batch_size=1000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE pool_workload")


def blocks(after, *, pieces=False):
    """How many blocks the database looks at to find 60 places, by its own count."""
    with CaptureQueriesContext(connection) as seen:
        queue_part(standing=ALL, wanted=Q(), others=True, after=after, size=60, pieces=pieces)
    sql = next(
        one["sql"] for one in seen.captured_queries if "ROW" in one["sql"] or "place" in one["sql"]
    )
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}")
        told = cursor.fetchone()[0]
    plan = (json.loads(told) if isinstance(told, str) else told)[0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def test_the_database_keeps_place_and_reason_beside_what_is_said():
    queued(
        [
            None,
            {"reason": "carving"},
            {"reason": "array", "position": None},
            {"reason": "memory", "position": 7},
            {"reason": "after", "position": None},
        ]
    )
    kept = list(Workload.objects.order_by("pk").values_list("place", "waits_for"))
    assert kept[:2] == [(UNPLACED, ""), (0, "carving")]
    assert kept[2:] == [(OUT_OF_TURN, "array"), (7, "memory"), (UNPLACED, "after")]
    assert dict(queue_reasons(wanted=Q())) == dict.fromkeys(
        ("", "carving", "array", "memory", "after"), 1
    )


def test_a_stretch_costs_the_same_wherever_it_stands_and_however_long_the_queue():
    queued({"reason": "memory", "position": n} for n in range(200))
    short = blocks((-1, 0))
    queued({"reason": "memory", "position": n} for n in range(200, 6000))
    queued({"reason": "array", "position": None} for _ in range(3000))
    for after in ((-1, 0), (3000, 0), (5990, 0)):
        assert blocks(after) <= 1.5 * short + 8, after
    assert blocks((OUT_OF_TURN, 0), pieces=True) <= 1.5 * short + 8
