"""Days and months of a zone are real time: nothing is lost or doubled where clocks change."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.rating.days import by_day, day_of, month_of, month_span, next_month
from billing.rating.intervals import HOUR_US, Span, micros, moment

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Shanghai", "UTC")
zones = st.sampled_from([*ZONES, "Asia/Kathmandu", "America/Santiago", "Africa/Cairo"])
moments = st.datetimes(datetime(2024, 1, 1), datetime(2028, 1, 1)).map(  # noqa: DTZ001
    lambda at: micros(at.replace(tzinfo=UTC))
)


@given(zones, moments, st.integers(1, 90 * 24 * HOUR_US))
def test_the_days_of_a_span_follow_without_gap_and_sum_to_it(zone, start, length):
    span = Span(start, start + length)
    days = list(by_day(span, zone))
    assert [one.start_us for _, one in days] == [start, *(one.end_us for _, one in days[:-1])]
    assert days[-1][1].end_us == span.end_us
    assert sum(one.length_us for _, one in days) == length
    assert [day for day, _ in days] == sorted({day for day, _ in days})
    for day, one in days:
        assert day_of(moment(one.start_us), zone) == day
        assert day_of(moment(one.end_us - 1), zone) == day


@given(zones, st.dates(date(2024, 1, 1), date(2027, 12, 31)))
def test_the_days_of_a_month_are_the_month(zone, day):
    first = month_of(day)
    span = month_span(first, zone)
    days = list(by_day(span, zone))
    assert sum(one.length_us for _, one in days) == span.length_us
    assert len(days) == (next_month(first) - first).days
    assert month_span(next_month(first), zone).start_us == span.end_us


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", date(2026, 3, 29), 23),
        ("Europe/Berlin", date(2026, 10, 25), 25),
        ("America/New_York", date(2026, 3, 8), 23),
        ("America/New_York", date(2026, 11, 1), 25),
        ("Asia/Kolkata", date(2026, 3, 29), 24),
        ("Africa/Cairo", date(2026, 4, 24), 23),
    ],
)
def test_a_day_is_as_long_as_it_is(zone, day, hours):
    around = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    span = Span(micros(around - timedelta(days=2)), micros(around + timedelta(days=2)))
    lengths = {found: one.length_us for found, one in by_day(span, zone)}
    assert lengths[day] == hours * HOUR_US
