"""What a budget says of an amount: its level, its pace, and the day on which it runs out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.rating.budgets import forecast, level, percent
from billing.rating.intervals import HOUR_US

DAY = 24 * HOUR_US


def seen(spent, limit, *, day=10, days=30, per_hour=None):
    return forecast(
        spent=spent, limit=limit, begin_us=0, now_us=day * DAY, end_us=days * DAY, per_hour=per_hour
    )


@pytest.mark.parametrize(
    ("spent", "told"), [(0, 0), (79, 0), (80, 80), (94, 80), (95, 95), (99, 95), (100, 100)]
)
def test_people_hear_at_eighty_ninety_five_and_a_hundred_percent(spent, told):
    assert level(spent, 100) == told


def test_a_limit_of_nothing_is_reached_at_once_and_has_no_percent():
    assert level(0, 0) == 100
    assert percent(0, 0) is None
    assert percent(999, 1000) == 99, "a hundred means all of it"


def test_at_the_mean_pace_it_runs_out_on_a_day_of_the_period():
    told = seen(100, 250)
    assert told.total == 300
    assert told.runs_out_us == 25 * DAY


def test_what_lasts_to_the_end_of_the_period_does_not_run_out():
    assert seen(100, 300).runs_out_us is None
    assert seen(0, 300).runs_out_us is None


def test_what_is_spent_has_run_out_now():
    assert seen(300, 300).runs_out_us == 10 * DAY


def test_the_pace_of_now_counts_where_it_is_faster_than_the_mean():
    told = seen(100, 250, per_hour=2)
    assert told.runs_out_us == 10 * DAY + 75 * HOUR_US
    assert told.total == 100 + 2 * 20 * 24
    assert seen(100, 250, per_hour=0).total == 300, "a quiet hour promises nothing"


@given(
    st.integers(0, 10**12),
    st.integers(0, 10**12),
    st.integers(1, 29),
    st.none() | st.integers(0, 10**9),
)
def test_it_never_runs_out_before_now_nor_after_the_period(spent, limit, day, per_hour):
    told = seen(spent, limit, day=day, per_hour=per_hour)
    assert told.total >= spent
    if told.runs_out_us is not None:
        assert day * DAY <= told.runs_out_us < 30 * DAY
