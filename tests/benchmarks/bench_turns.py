"""What a turn of the books costs with arrays of many pieces: time, queries and blocks read."""

import os
import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.cycle.turns import in_turn, settle
from pool.models.workloads import Workload
from pool.services.series.dependencies import After
from tests.benchmarks.bench_lists import blocks, cloned
from tests.pool.many import many, of

PIECES = int(os.environ.get("BENCH_PIECES", "100000"))
SIZES = sorted({1000, 10_000, PIECES})


def grown(array, size):
    """The array with so many pieces, all in the queue."""
    piece = of(array)[0]
    have = Workload.objects.filter(parent=array).count()
    cloned(
        piece,
        size - have,
        name="'piece ' || n",
        name_folded="'piece ' || n",
        array_index=f"n + {have} + 1000",
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE pool_workload")


def cost(call):
    """Seconds, queries and blocks of the statements that read."""
    begun = time.perf_counter()
    with CaptureQueriesContext(connection) as seen:
        call()
    took = time.perf_counter() - begun
    told = [one["sql"] for one in seen if one["sql"].lstrip().startswith(("SELECT", "UPDATE"))]
    return took, len(told), [blocks(sql) for sql in told]


@pytest.mark.handmade_books
@pytest.mark.django_db
@pytest.mark.timeout(3600)
def test_a_turn_with_nothing_to_do_costs_the_same_at_any_size():
    place = many()
    array = place.submit("0-9", throttle=2)
    paired = place.submit("0-9", after=[After(array, each=True)])
    first = place.submit()
    late = place.submit("0-9", after=[After(first)])
    for size in SIZES:
        for one in (array, paired, late):
            grown(one, size)
        settle()
        for name, call in (
            ("settle", settle),
            ("who may start", lambda: list(Workload.objects.filter(in_turn(), state="queued"))),
        ):
            took, queries, read = cost(call)
            print(  # noqa: T201
                f"\n3 arrays of {size}: {name} {took:.3f} s, {queries} queries, blocks {read}",
                flush=True,
            )
            assert queries <= 6
