"""Times of cron lines, on days of 23, 24 and 25 hours."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.cron import cron_problem, times_after, times_between

BERLIN = "Europe/Berlin"
SHORT = datetime(2026, 3, 29, tzinfo=ZoneInfo(BERLIN))
LONG = datetime(2026, 10, 25, tzinfo=ZoneInfo(BERLIN))
LINES = st.sampled_from(
    ["* * * * *", "*/7 * * * *", "30 2 * * *", "0 6 * * 1-5", "15 */6 * * *", "0 0 1 * *"]
)


def of_day(line, day, zone=BERLIN):
    until = day.replace(hour=23, minute=59)
    found = times_between(line, day - timedelta(seconds=1), until, zone=zone, most=2000)
    return [one.astimezone(ZoneInfo(zone)).strftime("%H:%M") for one in found]


@pytest.mark.parametrize(
    "line", ["0 2 * * *", "*/5 8-18 * * 1-5", "0 0 L * *", "30 4 1,15 * *", "0 12 * JAN MON#1"]
)
def test_a_line_with_five_fields_is_taken(line):
    assert cron_problem(line) is None


@pytest.mark.parametrize(
    "line",
    ["", "* * * *", "0 * * * * *", "@daily", "60 * * * *", "0 0 30 2 *", "a b c d e", "* " * 80],
)
def test_any_other_line_is_refused_with_words(line):
    assert str(cron_problem(line))


def test_a_time_is_meant_in_the_zone():
    at = datetime(2026, 1, 10, 12, tzinfo=UTC)
    assert times_after("0 9 * * *", at, zone="Asia/Shanghai", count=1) == [
        datetime(2026, 1, 11, 1, tzinfo=UTC)
    ]
    assert times_after("0 9 * * *", at, zone="UTC", count=2) == [
        datetime(2026, 1, 11, 9, tzinfo=UTC),
        datetime(2026, 1, 12, 9, tzinfo=UTC),
    ]


def test_a_time_in_the_hour_that_is_left_out_comes_right_after_it():
    assert of_day("30 2 * * *", SHORT) == ["03:00"]
    assert of_day("30 1 * * *", SHORT) == ["01:30"]


def test_a_time_in_the_hour_that_is_repeated_comes_once():
    assert of_day("30 2 * * *", LONG) == ["02:30"]


def test_every_hour_means_so_many_hours_as_the_day_has():
    assert len(of_day("0 * * * *", SHORT)) == 23
    assert len(of_day("0 * * * *", LONG)) == 25
    assert len(of_day("0 * * * *", datetime(2026, 6, 1, tzinfo=ZoneInfo(BERLIN)))) == 24


@given(LINES, st.integers(0, 366 * 1440), st.sampled_from([BERLIN, "UTC", "America/New_York"]))
def test_times_only_go_forward_and_between_is_the_same_as_after(line, minutes, zone):
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    found = times_after(line, at, zone=zone, count=5)
    assert found == sorted(set(found))
    assert all(one > at for one in found)
    if found[-1] - at < timedelta(days=30):
        assert times_between(line, at, found[-1], zone=zone, most=5) == found


def test_after_a_long_absence_only_the_newest_times_are_named():
    until = datetime(2026, 6, 1, tzinfo=UTC)
    found = times_between("* * * * *", until - timedelta(days=2), until, zone="UTC", most=100)
    assert found == [until - timedelta(minutes=one) for one in range(99, -1, -1)]
