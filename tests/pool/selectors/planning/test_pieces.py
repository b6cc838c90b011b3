"""Free room in pieces of planted days: whole cards are none, and a day is the mean of its hours."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from psycopg.types.range import TimestamptzRange

from pool.models import Card, Hold
from pool.selectors.planning.pieces import pieces_by_day
from tests import rows
from tests.pool.selectors.planning.planted import ran

pytestmark = pytest.mark.django_db
BEGIN = datetime(2026, 6, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def cards():
    rows.partition()
    rows.node(cards=4)
    return list(Card.objects.order_by("index"))


def days(count=1):
    return pieces_by_day(since=BEGIN, until=BEGIN + timedelta(days=count))


def test_a_card_held_whole_or_not_at_all_leaves_no_pieces(cards):
    ran(card=cards[0], into=rows.project(), since=BEGIN, until=BEGIN + 24 * HOUR)
    (told,) = days()
    assert (told.held, told.in_pieces, told.whole) == (1, 0, 3)
    assert told.free_milli == 0


def test_what_is_left_of_a_card_in_parts_is_in_pieces_for_as_long_as_it_is(cards):
    into = rows.project()
    ran(card=cards[0], into=into, since=BEGIN, until=BEGIN + 24 * HOUR, micro=250_000)
    ran(card=cards[1], into=into, since=BEGIN, until=BEGIN + 12 * HOUR, micro=500_000)
    first, second = days(2)
    assert first.day == date(2026, 6, 1)
    assert first.in_pieces == pytest.approx(0.75 + 0.25)
    assert first.whole == pytest.approx(2.5)
    assert first.free_milli == round(1000 * 1 / 3.5)
    assert (second.in_pieces, second.whole, second.free_milli) == (0, 4, 0)


def test_without_cards_nothing_is_free():
    (told,) = days()
    assert (told.whole, told.free_milli) == (0, None)


@pytest.mark.handmade_books
@pytest.mark.parametrize("lead", [-30, 0, 1, 59])
@pytest.mark.parametrize("tail", [-60, -1, 0, 1, None])
def test_a_look_at_a_full_hour_sees_what_is_held_at_that_moment(cards, lead, tail):
    """From so many minutes after the day began to so many before or after ten; None: still held."""
    minute = timedelta(minutes=1)
    since = BEGIN + lead * minute
    until = BEGIN + 10 * HOUR + (tail or 0) * minute
    ran(card=cards[0], into=rows.project(), since=since, until=until, micro=500_000)
    if tail is None:
        Hold.objects.update(held=TimestamptzRange(since, None))
    looks = [BEGIN + number * HOUR for number in range(24)]
    seen = sum(since <= at and (tail is None or at < until) for at in looks)
    (told,) = days()
    assert told.held == pytest.approx(0.5 * seen / 24)
    assert told.in_pieces == pytest.approx(0.5 * seen / 24)
    assert told.whole == pytest.approx(4 - seen / 24)


def test_holds_of_other_days_are_not_read(cards):
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as seen:
        days()
        (sql,) = [one["sql"] for one in seen if "pool_hold" in one["sql"]]
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {sql}")
        plan = " ".join(line for (line,) in cursor.fetchall())
    assert "held && '[" in plan
