"""Working time: days off, nights and weekends do not count, in any zone."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.problems import Problems
from pool.rules.working import WorkingCalendar, calendar_from, working_after, working_hours

OFFICE = WorkingCalendar()
FRIDAY = datetime(2026, 11, 27, 16, 0, tzinfo=UTC)


def test_the_evening_and_the_weekend_do_not_count():
    assert working_after(OFFICE, FRIDAY, 1) == datetime(2026, 11, 27, 17, 0, tzinfo=UTC)
    assert working_after(OFFICE, FRIDAY, 2) == datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
    assert working_hours(OFFICE, FRIDAY, datetime(2026, 11, 30, 10, 0, tzinfo=UTC)) == 2


def test_a_day_off_is_skipped():
    off = WorkingCalendar(holidays=frozenset({date(2026, 11, 30)}))
    assert working_after(off, FRIDAY, 2) == datetime(2026, 12, 1, 10, 0, tzinfo=UTC)


def test_a_day_of_summer_time_is_measured_in_real_hours():
    berlin = WorkingCalendar(
        zone=ZoneInfo("Europe/Berlin"), days=frozenset(range(7)), begins=0, ends=24
    )
    day = datetime(2026, 3, 29, tzinfo=ZoneInfo("Europe/Berlin")).astimezone(UTC)
    assert working_hours(berlin, day, day + timedelta(hours=23)) == 23
    assert working_hours(berlin, day, day + timedelta(hours=24)) == 24


MOMENTS = st.integers(min_value=0, max_value=365 * 24 * 60).map(
    lambda minutes: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)


@given(MOMENTS, st.integers(min_value=0, max_value=80))
def test_what_is_promised_has_just_so_many_working_hours_before_it(at, hours):
    end = working_after(OFFICE, at, hours)
    assert end >= at
    assert working_hours(OFFICE, at, end) == pytest.approx(hours)


@given(MOMENTS, MOMENTS, MOMENTS)
def test_working_time_adds_up(one, two, three):
    a, b, c = sorted((one, two, three))
    whole = working_hours(OFFICE, a, c)
    assert whole == pytest.approx(working_hours(OFFICE, a, b) + working_hours(OFFICE, b, c))
    assert working_hours(OFFICE, c, a) == 0 or a == c


@pytest.mark.parametrize(
    "wrong",
    [
        {"days": []},
        {"days": [7]},
        {"days": [True]},
        {"begins": 17, "ends": 9},
        {"ends": 25},
        {"holidays": ["christmas"]},
        {"lunch": 12},
    ],
)
def test_a_calendar_that_cannot_be_read_is_refused(wrong):
    with pytest.raises(Problems):
        calendar_from(wrong, UTC)


def test_what_is_left_out_is_the_usual_week():
    assert calendar_from({}, UTC) == WorkingCalendar()
