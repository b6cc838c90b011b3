"""Lists with a million workloads and a hundred thousand requests: queries and blocks stay flat."""

import json
import os

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.models import Request, Workload
from tests.portal.world import World

ROWS = int(os.environ.get("BENCH_ROWS", "1000000"))
SIZES = sorted({100, 10_000, 100_000, ROWS})
LISTS = {
    "workloads, an admin's": ("platform_admin", "workloads"),
    "workloads, a member's": ("member", "workloads"),
    "workloads that run": ("member", "workloads?state=running"),
    "workloads of a project": ("platform_admin", "workloads?project=vision"),
    "workloads of nobody's project": ("stranger", "workloads"),
    "requests, an admin's": ("platform_admin", "requests"),
    "requests, a member's": ("member", "requests"),
    "requests that wait": ("lead", "requests?state=submitted"),
    "requests that wait, of nobody's project": ("stranger", "requests?state=submitted"),
    "requests to decide": ("lead", "requests?to_decide=true"),
    "requests to decide, a platform admin's": ("platform_admin", "requests?to_decide=true"),
    "workloads by name, an admin's": ("platform_admin", "workloads?ordering=name"),
    "workloads by name, a member's": ("member", "workloads?ordering=-name"),
    "requests by title, an admin's": ("platform_admin", "requests?ordering=title"),
    "requests by title, a member's": ("member", "requests?ordering=-title"),
    "requests by length": ("member", "requests?ordering=duration"),
    "quotas": ("member", "quotas"),
}
"""Who reads which list; `stranger` sees one row in so many."""

CLONE = """
INSERT INTO {table} ({columns})
SELECT {values} FROM {table} AS t, generate_series(1, %(count)s) AS n
WHERE t.id = %(row)s
"""


def cloned(row, count, **values):
    """So many copies of a row, each with a uid of its own; `values` are SQL about n."""
    table = row._meta.db_table
    fields = [one for one in row._meta.concrete_fields if not getattr(one, "generated", False)]
    columns = [one.column for one in fields if one.column != "id"]
    said = {"uid": f"'{row.uid[:2]}-' || gen_random_uuid()", **values}
    picked = [said.get(name, f't."{name}"') for name in columns]
    with connection.cursor() as cursor:
        cursor.execute(
            CLONE.format(
                table=table,
                columns=", ".join(f'"{name}"' for name in columns),
                values=", ".join(picked),
            ),
            {"count": count, "row": row.pk},
        )


def grown(world, size):
    """The tables at so many workloads, a tenth as many requests; one in 50 runs or waits."""
    have = Workload.objects.count()
    other = world.other.project.pk
    ends = "CASE WHEN n %% 50 = 0 THEN {live} ELSE {over} END"
    home = f"CASE WHEN n %% 1000 = 0 THEN {other} ELSE t.project_id END"
    done = world.own.placement.attempt.workload
    cloned(
        done,
        size - have,
        name="'work ' || n",
        name_folded="'work ' || n",
        project_id=home,
        state=ends.format(live="'on_hold'", over="'succeeded'"),
        ended_at=ends.format(live="NULL", over="t.ended_at"),
    )
    cloned(
        world.own.request,
        size // 10 - Request.objects.count(),
        title="'ask ' || n",
        submitted_at="t.submitted_at - n * interval '1 second'",
        project_id=home,
        state=ends.format(live="'submitted'", over="'withdrawn'"),
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE pool_workload, pool_request")


def blocks(sql):
    """Blocks that one query reads or hits, and the rows that its scans touch."""
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + sql)
        plan = cursor.fetchone()[0]
    top = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]
    return top["Shared Hit Blocks"] + top["Shared Read Blocks"]


def cost(who, path):
    """Queries, blocks and the answer of one page."""
    with CaptureQueriesContext(connection) as seen:
        answer = who.get(path)
    assert answer.status_code == 200, answer.content
    selects = [one["sql"] for one in seen if one["sql"].startswith("SELECT")]
    return len(selects), sum(map(blocks, selects)), answer.json()


def deep(who, path, pages=5):
    """The page some pages on; pages by cursor cost the same wherever they lie."""
    found = cost(who, path)
    for _ in range(pages):
        if not found[2].get("next"):
            return found
        found = cost(who, found[2]["next"].partition("/api/v1/")[2])
    return found


@pytest.mark.handmade_books
@pytest.mark.django_db
@pytest.mark.timeout(3600)
def test_pages_cost_the_same_queries_and_blocks_at_any_size():
    world = World()
    table = {}
    for size in SIZES:
        grown(world, size)
        print(f"\n{size} workloads are there", flush=True)  # noqa: T201
        for name, (role, path) in LISTS.items():
            who = world.by(role)
            who.get(path)
            first, later = cost(who, path), deep(who, path)
            table.setdefault(name, []).append((first[:2], later[:2]))
    print(f"\nrows: {SIZES}; queries and 8 KiB blocks of the first page | of the sixth")  # noqa: T201
    for name, found in table.items():
        told = "; ".join(f"{a[0]} q {a[1]} b | {b[0]} q {b[1]} b" for a, b in found)
        print(f"{name}: {told}")  # noqa: T201
    for name, found in table.items():
        assert len({queries for first, later in found for queries, _ in (first, later)}) <= 2, name
