"""The cost so far: what is metered and what still runs, to the microsecond."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from psycopg.types.range import Range

from billing.models import Usage
from billing.selectors.holds import database_now
from billing.selectors.usage import (
    months,
    project_month,
    usage_list,
    workload_cost,
    workload_costs,
)
from billing.services.metering import usage_meter
from pool.lifecycle.events import EventKind
from pool.models import Membership, User
from pool.selectors.memberships import Standing, standing
from tests.billing.rows import Books, at, told

pytestmark = pytest.mark.django_db(transaction=True)

START, END = at("2026-03-01T10:59:59.250001"), at("2026-03-01T13:00:00.000003")


def test_the_cost_is_the_same_before_and_after_the_meter_came_by():
    hold = told(Books.opened().hold((START, END)))
    work = hold.placement.attempt.workload
    before = workload_cost(workload=work)
    usage_meter()
    assert workload_cost(workload=work) == before
    assert before.amount_micro == sum(Usage.objects.values_list("amount_micro", flat=True))
    assert not before.running
    assert before.per_hour_micro is None


def test_a_running_hold_costs_up_to_now_whatever_the_meter_has_seen():
    books = Books.opened(rate=3_600_000)
    start = database_now() - timedelta(hours=3)
    hold = told(books.hold((start, None), micro=1_000_000), EventKind.PLACEMENT_OPENED)
    work = hold.placement.attempt.workload
    usage_meter()
    for _ in range(2):
        low = (database_now() - start) / timedelta(microseconds=1) / 1000
        cost = workload_cost(workload=work)
        high = (database_now() - start) / timedelta(microseconds=1) / 1000
        assert low - 1 <= cost.amount_micro <= high + 1
        assert cost.running
        assert cost.per_hour_micro == 3_600_000


def test_a_workload_that_never_ran_has_cost_nothing():
    cost = workload_cost(workload=Books.opened().workload())
    assert (cost.amount_micro, cost.card_seconds, cost.running) == (0, 0, False)


def test_a_cost_without_a_price_is_unknown():
    hold = told(Books.opened(rate=None).hold((START, END)))
    cost = workload_cost(workload=hold.placement.attempt.workload)
    assert (cost.amount_micro, cost.complete) == (None, False)


def test_all_attempts_and_their_host_shares_count():
    books = Books.opened(rate=1_000_000)
    books.price(100_000, "2020-01-01", unit="core")
    work = books.workload()
    hour = (at("2026-03-01"), at("2026-03-01T01:00:00"))
    for _ in range(2):
        placement = books.placement(work)
        books.hold(hour, micro=500_000, placement=placement)
        told(books.share(hour, placement=placement, cpu_milli=1000))
    usage_meter()
    cost = workload_cost(workload=work)
    assert cost.amount_micro == 2 * (500_000 + 100_000)
    assert cost.card_seconds == 3600


def test_the_costs_of_many_take_as_many_queries_as_of_one():
    books = Books.opened()
    works = [told(books.hold((START, END))).placement.attempt.workload for _ in range(12)]
    usage_meter()
    for work in works[:6]:
        told(books.hold((START, None), placement=books.placement(work)))
    counts = []
    for some in (works[:1], works):
        with CaptureQueriesContext(
            connection,
        ) as asked:
            workload_costs(workloads=some)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_the_month_of_a_project_begins_in_its_own_zone():
    books = Books.opened(zone="Asia/Kolkata", rate=3_600_000)
    zone = timedelta(hours=5, minutes=30)
    first = (database_now() + zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0) - zone
    inside = database_now() - first
    part = min(inside, timedelta(minutes=10))
    books_hold = books.hold((first - timedelta(hours=2), first + part), micro=1_000_000)
    told(books_hold)
    usage_meter()
    assert project_month(project=books.project).amount_micro == round(part.total_seconds() * 1000)


def test_the_month_of_a_project_holds_what_still_runs():
    books = Books.opened()
    span = (database_now() - timedelta(microseconds=5), database_now())
    told(books.hold(span))
    usage_meter()
    assert not project_month(project=books.project).running
    told(books.hold((database_now(), None)), EventKind.PLACEMENT_OPENED)
    assert project_month(project=books.project).running


def test_rows_are_seen_by_those_who_may_read_the_projects_cost():
    one, other = Books.opened(), Books.opened()
    for books in (one, other):
        hold = books.hold((START, END))
        hold.held = Range(START, END)
        told(hold)
    usage_meter()
    reader = User.objects.create(username="reader")
    assert not usage_list(standing=standing(user=reader)).exists()
    Membership.objects.create(
        user=reader, organization=one.project.organization, role="billing_reader"
    )
    assert {row.project for row in usage_list(standing=standing(user=reader))} == {one.project}


def test_the_months_of_all_projects_take_as_many_queries_as_of_one():
    counts, spent = [], {}
    for zone in ("UTC", "America/New_York", "Asia/Kolkata"):
        books = Books.opened(zone=zone)
        told(books.hold((database_now() - timedelta(microseconds=2000), database_now())))
        told(books.hold((database_now(), None)), EventKind.PLACEMENT_OPENED)
        usage_meter()
        with CaptureQueriesContext(connection) as asked:
            spent = {one.project.pk: one.cost for one in months(standing=Standing(platform=True))}
        counts.append(len(asked))
        assert spent[books.project.pk].running
    assert len(spent) == 3
    assert len(set(counts)) == 1
