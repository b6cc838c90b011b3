"""The meter on the real database: exact, once, whatever is repeated or goes wrong."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, transaction
from psycopg.types.range import Range

from billing.models import Cursor, Usage
from billing.services.metering import READER, usage_meter
from pool.lifecycle.events import EventKind
from pool.locks import METER
from pool.models import ClockShift
from tests import rows as rows_of
from tests.billing.rows import Books, at, told

pytestmark = pytest.mark.django_db(transaction=True)

START, END = at("2026-03-01T10:59:59.250001"), at("2026-03-01T13:00:00.000003")
US = timedelta(microseconds=1)


def rows(hold):
    return list(Usage.objects.filter(hold=hold).order_by("hour"))


def state():
    skipped = {"metered_at"}
    names = [f.attname for f in Usage._meta.concrete_fields if f.attname not in skipped]
    return list(Usage.objects.order_by("pk").values(*names))


def the_clock_says(moment):
    ClockShift.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO pool_clockshift VALUES (1, clock_timestamp(), %s, 0.0000001)", [moment]
        )


def test_a_closed_hold_has_one_row_an_hour_that_sum_to_its_span_exactly():
    hold = told(Books.opened().hold((START, END)))
    usage_meter()
    made = rows(hold)
    assert [row.hour.hour for row in made] == [10, 11, 12, 13]
    assert sum(row.reserved_us for row in made) == (END - START) // US
    assert [row.reserved_us for row in made][1:3] == [3_600_000_000, 3_600_000_000]
    assert made[-1].reserved_us == 3
    assert not any(row.running for row in made)


def test_the_amounts_of_the_hours_sum_to_the_amount_of_the_span():
    hold = told(Books.opened(rate=1_900_000).hold((START, END), micro=1_000_000))
    usage_meter()
    exact = (END - START) // US * 1_900_000 / 3_600_000_000
    assert sum(row.amount_micro for row in rows(hold)) == round(exact)


def test_a_row_tells_whose_it_was_and_what():
    books = Books.opened()
    hold = told(books.hold((START, END)))
    usage_meter()
    row = rows(hold)[0]
    assert (row.project, row.organization) == (books.project, books.project.organization)
    assert (row.owner, row.workload) == (books.user, hold.placement.attempt.workload)
    assert (row.card_model, row.mode, row.memory_mib) == ("A100-80GB", "mig", 9728)
    assert (row.currency, row.price_class, row.borrowed) == ("EUR", "standard", False)


def test_whose_an_hour_was_stays_when_the_project_moves_or_changes_its_cost_centre():
    """The log speaks of the hold again at its end: hours written before keep their words."""
    books = Books.opened()
    books.project.cost_centre = "old"
    books.project.save()
    hold = told(books.hold((START, END)))
    usage_meter()
    books.project.cost_centre = "new"
    books.project.organization = rows_of.organization(slug="other", name="Other", currency="USD")
    books.project.save()
    before = state()
    told(hold)
    usage_meter()
    assert {row.cost_centre for row in rows(hold)} == {"old"}
    assert {row.currency for row in rows(hold)} == {"EUR"}
    assert state() == before


def test_cores_and_memory_of_a_node_are_charged_by_their_own_prices():
    books = Books.opened()
    books.price(10_000, "2020-01-01", unit="core")
    books.price(1_000, "2020-01-01", unit="gib")
    hold = told(books.share((at("2026-03-01"), at("2026-03-01T01:00:00"))))
    usage_meter()
    (row,) = rows(hold)
    assert row.amount_micro == 4 * 10_000 + 8 * 1_000
    assert {line["unit"]: line["micro"] for line in row.charges} == {"core": 40_000, "gib": 8_000}


def test_running_again_writes_nothing():
    books = Books.opened()
    for _ in range(3):
        told(books.hold((START, END)))
    usage_meter()
    before = state()
    assert usage_meter().rows == 0
    assert state() == before


def test_a_replay_of_the_whole_log_changes_nothing():
    books = Books.opened()
    for _ in range(3):
        told(books.hold((START, END)))
    usage_meter(page=1)
    before = state()
    Cursor.objects.all().delete()
    again = usage_meter()
    assert (again.events, again.rows) == (3, 0)
    assert state() == before


def test_a_meter_that_dies_midway_leaves_all_to_the_next(monkeypatch):
    hold = told(Books.opened().hold((START, END)))

    def dies(*args, **kwargs):
        raise OperationalError("the server went away")

    with monkeypatch.context() as broken:
        broken.setattr(Usage.objects, "bulk_create", dies)
        with pytest.raises(OperationalError):
            usage_meter()
    assert not Usage.objects.exists()
    assert usage_meter().rows == 4
    assert len(rows(hold)) == 4


def test_an_event_that_commits_late_is_not_passed_over():
    books = Books.opened()
    early, late = books.hold((START, END)), books.hold((START, END))
    written, may_end = threading.Event(), threading.Event()

    def slow():
        with transaction.atomic():
            told(late)
            written.set()
            may_end.wait(10)
        connection.close()

    thread = threading.Thread(target=slow)
    thread.start()
    assert written.wait(10)
    told(early)
    usage_meter()
    assert not rows(late)
    may_end.set()
    thread.join(10)
    usage_meter()
    assert len(rows(late)) == len(rows(early)) == 4


def test_an_open_hold_is_extended_until_it_ends():
    books = Books.opened(rate=3_600_000)
    start = at("2026-03-01T10:30:00")
    the_clock_says(start + timedelta(seconds=10))
    hold = told(books.hold((start, None), micro=1_000_000), EventKind.PLACEMENT_OPENED)
    usage_meter()
    (row,) = rows(hold)
    assert row.running
    assert row.reserved_us // 1_000_000 == 10
    the_clock_says(start + timedelta(seconds=40))
    assert usage_meter().rows == 0
    the_clock_says(start + timedelta(hours=1, seconds=10))
    usage_meter()
    first, second = rows(hold)
    assert first.reserved_us == 1_800_000_000
    assert not first.running
    assert second.running
    hold.held = Range(start, start + timedelta(hours=2))
    hold.save()
    told(hold)
    usage_meter()
    made = rows(hold)
    assert sum(row.reserved_us for row in made) == 7_200_000_000
    assert sum(row.amount_micro for row in made) == 7_200_000_000 * 3_600_000 // 3_600_000_000
    assert not any(row.running for row in made)


def test_the_hours_of_an_open_hold_are_closed_even_when_no_meter_ran_for_days():
    books = Books.opened()
    start = at("2026-03-01T10:30:00")
    hold = told(books.hold((start, None)), EventKind.PLACEMENT_OPENED)
    the_clock_says(start + timedelta(seconds=1))
    usage_meter()
    the_clock_says(start + timedelta(hours=50))
    usage_meter()
    made = rows(hold)
    assert len(made) == 51
    assert [row.running for row in made] == [False] * 50 + [True]
    assert sum(row.reserved_us for row in made) // 1_000_000 == 50 * 3600


def test_the_nodes_own_count_is_applied_and_later_hours_are_emptied_not_removed():
    hold = told(Books.opened().hold((START, END)))
    usage_meter()
    hold.corrected_s = 1.5
    hold.save()
    told(hold, EventKind.HOLD_CORRECTED)
    usage_meter()
    made = rows(hold)
    assert sum(row.reserved_us for row in made) == 1_500_000
    assert [row.reserved_us for row in made[2:]] == [0, 0]
    assert [row.amount_micro for row in made[2:]] == [0, 0]
    assert all(row.revision == 2 for row in made)
    before = state()
    Cursor.objects.all().delete()
    usage_meter()
    assert state() == before


def test_an_attempt_that_is_not_billable_is_counted_and_not_charged():
    books = Books.opened()
    hold = told(books.hold((START, END), placement=books.placement(billable=False)))
    usage_meter()
    made = rows(hold)
    assert sum(row.reserved_us for row in made) == (END - START) // US
    assert {row.amount_micro for row in made} == {0}
    assert not any(row.billable for row in made)


def test_a_charge_that_is_taken_back_later_empties_the_amounts():
    hold = told(Books.opened().hold((START, END)))
    usage_meter()
    assert sum(row.amount_micro for row in rows(hold)) > 0
    attempt = hold.placement.attempt
    attempt.billable = False
    attempt.save()
    told(hold, EventKind.HOLD_CORRECTED)
    usage_meter()
    assert sum(row.amount_micro for row in rows(hold)) == 0


def test_a_price_that_changes_within_the_hour_splits_it():
    books = Books.opened(rate=None)
    books.price(1_000_000, "2020-01-01", "2026-03-01T10:30:00")
    books.price(2_000_000, "2026-03-01T10:30:00")
    span = (at("2026-03-01T10:00:00"), at("2026-03-01T11:00:00"))
    hold = told(books.hold(span, micro=1_000_000))
    usage_meter()
    (row,) = rows(hold)
    assert row.amount_micro == 1_500_000
    assert [line["micro"] for line in row.charges] == [500_000, 1_000_000]


def test_time_without_a_price_has_an_unknown_amount():
    hold = told(Books.opened(rate=None).hold((START, END)))
    usage_meter()
    assert {row.amount_micro for row in rows(hold)} == {None}


def test_of_two_meters_at_once_one_leaves_and_every_hour_is_written_once():
    books = Books.opened()
    for _ in range(40):
        told(books.hold((START, END)))
    found, start = [], threading.Barrier(4)

    def run():
        start.wait(10)
        for _ in range(5):
            found.append(usage_meter(page=7))
        connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    usage_meter()
    assert len(found) == 20
    assert Usage.objects.count() == 160
    assert set(Usage.objects.values_list("revision", flat=True)) == {1}
    assert Cursor.objects.get().name == READER


def test_a_meter_finds_the_lock_taken_and_says_so():
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [METER])
        seen = []

        def run():
            seen.append(usage_meter())
            connection.close()

        thread = threading.Thread(target=run)
        thread.start()
        thread.join(10)
    assert [one.busy for one in seen] == [True]


def test_the_task_runs_the_meter():
    from billing.tasks import meter

    told(Books.opened().hold((START, END)))
    assert meter()["rows"] == 4
