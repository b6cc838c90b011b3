"""Reconciliation: nothing where all tell the same, and every planted difference is found."""

import contextlib
import os
import random
from datetime import timedelta
from functools import partial
from unittest import mock

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from billing.models import Usage
from billing.selectors.reconciling import differences
from billing.services.metering import usage_meter
from billing.services.months import month_close, month_open, month_review
from billing.services.posting import ledger_post
from pool.events import SYSTEM
from pool.models import Hold
from tests.billing.rows import Books, at, told

JOBS = int(os.environ.get("RECONCILE_JOBS", "40"))
"""How many jobs the run has; the thousand of the acceptance are asked for by hand."""

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300 + 2 * JOBS)]

SINCE, UNTIL = at("2026-02-28"), at("2026-03-02")
END = at("2026-04-02")
"""The month is posted to its end where it is closed."""


def found():
    return {one.what.split(",")[0]: one for one in differences(since=SINCE, until=UNTIL)}


def crashing(where, run):
    """It dies in the middle of its work, and what it had written goes with its transaction."""
    with mock.patch(where, side_effect=MemoryError), contextlib.suppress(MemoryError):
        run()


@pytest.fixture
def books():
    """Jobs of all lengths, with repeats and crashes of meter and ledger in between."""
    chance = random.Random(7)
    opened = Books.opened(rate=1_900_000)
    for n in range(JOBS):
        start = at("2026-03-01T08:00:00") + timedelta(seconds=chance.uniform(0, 7200))
        end = start + timedelta(seconds=chance.uniform(0.5, 9000))
        told(opened.hold((start, end), micro=chance.choice([142_857, 250_000, 1_000_000])))
        if n % 10 == 0:
            crashing("billing.services.metering._due", lambda: usage_meter(page=3))
            usage_meter(page=3)
            post = partial(ledger_post, until=at("2026-03-01T10:00:00"))
            crashing("billing.services.posting._posted", post)
            post()
    usage_meter()
    while ledger_post(until=UNTIL, most=100).more:
        pass
    return opened


def test_many_jobs_with_repeats_differ_in_nothing(books, capsys):
    assert found() == {}
    call_command("reconcile", since="2026-02-28", until="2026-03-02")
    assert "No difference" in capsys.readouterr().out


def test_a_row_that_lost_a_second_is_found(books):
    row = Usage.objects.order_by("pk").first()
    Usage.objects.filter(pk=row.pk).update(reserved_us=row.reserved_us - 1)
    assert found()["held time against usage"].subject == row.hold.uid
    with pytest.raises(CommandError):
        call_command("reconcile", since="2026-02-28", until="2026-03-02")


def test_a_node_that_counted_otherwise_is_found(books):
    hold = Hold.objects.order_by("pk").first()
    length = (hold.held.upper - hold.held.lower).total_seconds()
    Hold.objects.filter(pk=hold.pk).update(agent_held_s=length + 5.5)
    assert found()["the books against the node's count"].subject == hold.uid
    Hold.objects.filter(pk=hold.pk).update(agent_held_s=length + 4.5)
    assert found() == {}


def test_an_amount_that_was_never_posted_is_found(books):
    row = Usage.objects.order_by("pk").first()
    Usage.objects.filter(pk=row.pk).update(amount_micro=row.amount_micro + 1)
    assert found()["usage against the ledger"].subject == row.uid


def test_a_ledger_tampered_with_is_found(books):
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            "UPDATE billing_posting SET amount_micro = amount_micro + 1 WHERE id ="
            " (SELECT min(id) FROM billing_posting)"
        )
        cursor.execute("SET session_replication_role = DEFAULT")
    assert "an entry that does not sum to zero" in found()


def unguarded(statement):
    """What only somebody with the keys of the database could do."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(statement)
        cursor.execute("SET session_replication_role = DEFAULT")


def test_a_part_moved_to_another_side_of_its_entry_is_found(books):
    unguarded(
        "UPDATE billing_posting SET account = 'revenue' WHERE id = ("
        " SELECT min(id) FROM billing_posting WHERE account = 'platform_idle')"
    )
    assert set(found()) == {"the parts of a card's hour against its price"}


def test_work_that_is_not_to_be_charged_and_is_is_found(books):
    row = Usage.objects.order_by("pk").first()
    Usage.objects.filter(pk=row.pk).update(billable=False)
    assert found()["not to be charged"].subject == row.uid


def test_a_closed_month_that_says_another_sum_than_its_postings_is_found(books):
    while ledger_post(until=END, most=800).more:
        pass
    month = month_open(organization=books.project.organization, first=at("2026-03-01").date())
    month_review(month=month, actor=SYSTEM)
    month_close(month=month, actor=SYSTEM)
    assert found() == {}
    unguarded("UPDATE billing_month SET total_micro = total_micro + 1")
    assert found()["a closed month against the ledger"].subject == month.uid
