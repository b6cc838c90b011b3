"""Work thrown away when it had to give way: from its last checkpoint on, in money and card time."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from billing.selectors.lost import Lost, lost_to_preemption
from billing.services.metering import usage_meter
from pool.models import Attempt
from tests.billing.rows import Books, at, told

pytestmark = pytest.mark.django_db(transaction=True)

MARCH = at("2026-03-01").date()
START, END = at("2026-03-01T10:00:00"), at("2026-03-01T12:30:00")


def gave_way(books, *, checkpoint=None, reason="preempted", micro=500_000):
    hold = told(books.hold((START, END), micro=micro))
    Attempt.objects.filter(pk=hold.placement.attempt_id).update(
        exit_reason=reason, started_at=START, ended_at=END, checkpoint_at=checkpoint
    )
    usage_meter()
    return hold


def lost(books, **more):
    return lost_to_preemption(organization=books.project.organization, first=MARCH, **more)


def test_without_a_checkpoint_all_of_the_run_is_lost():
    books = Books.opened(rate=2_000_000)
    gave_way(books)
    assert lost(books) == Lost(2_500_000, 4500.0, 1)


def test_what_a_checkpoint_kept_is_not_lost_also_within_an_hour():
    books = Books.opened(rate=2_000_000)
    gave_way(books, checkpoint=at("2026-03-01T11:45:00"))
    assert lost(books) == Lost(750_000, 1350.0, 1)


def test_what_ended_otherwise_or_elsewhere_or_is_not_charged_is_not_in_it():
    books, others = Books.opened(rate=2_000_000), Books.opened(rate=2_000_000)
    gave_way(books, reason="finished")
    gave_way(others)
    assert lost(books) == Lost(0, 0.0, 0)
    assert lost(others, projects=[books.project.pk]) == Lost(0, 0.0, 0)
    february = lost_to_preemption(
        organization=others.project.organization, first=at("2026-02-01").date()
    )
    assert february.runs == 0


def test_a_month_is_found_by_an_index_of_the_runs_that_gave_way():
    books = Books.opened(rate=2_000_000)
    gave_way(books)
    with (
        transaction.atomic(),
        connection.cursor() as cursor,
        CaptureQueriesContext(connection) as q,
    ):
        lost(books)
        (sql,) = [one["sql"] for one in q if "pool_attempt" in one["sql"]]
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {sql}")
        plan = " ".join(line for (line,) in cursor.fetchall())
    assert "attempt_gave_way" in plan
    assert "Index Cond: ((ended_at >=" in plan
