"""When a node's own count stands for a hold's span."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.holds import MOST_STEP_S, Span, bounds_s, count_is_right

SPAN = Span(opened=1000.0, closed=1700.0, began=1040.0, clean=1640.0)
DELAYS = st.floats(0, 1e5)


def test_the_count_lies_between_the_works_time_and_the_whole_span():
    assert bounds_s(SPAN) == (600.0, 640.0)


@pytest.mark.parametrize("count", [596.0, 600.0, 640.0, 644.0])
def test_a_count_that_delays_explain_changes_nothing(count):
    assert not count_is_right(count_s=count, span=SPAN)


@pytest.mark.parametrize("count", [0.0, 594.0, 646.0, 4200.0])
def test_a_count_that_no_delay_explains_is_right(count):
    assert count_is_right(count_s=count, span=SPAN)


@pytest.mark.parametrize("count", [-1.0, math.inf, math.nan, 640.0 + MOST_STEP_S + 1])
def test_a_count_that_no_clock_explains_is_never_right(count):
    assert not count_is_right(count_s=count, span=SPAN)


def test_without_the_moment_it_was_clean_any_shorter_count_may_be_a_late_report():
    span = Span(opened=0.0, closed=700.0, began=10.0)
    assert not count_is_right(count_s=1.0, span=span)
    assert count_is_right(count_s=710.0, span=span)


@given(heard=DELAYS, start=DELAYS, ran=DELAYS, cleaning=DELAYS, late=DELAYS)
def test_no_delay_at_all_makes_a_correction(heard, start, ran, cleaning, late):
    count = start + ran + cleaning
    clean = heard + count
    span = Span(opened=0.0, closed=clean + late, began=heard + start, clean=clean)
    assert not count_is_right(count_s=count, span=span)


@given(ran=st.floats(3700, 1e5), step=st.sampled_from([-3600.0, 3600.0]))
def test_a_clock_that_is_stepped_while_work_runs_is_seen(ran, step):
    span = Span(opened=0.0, closed=ran + step, began=1.0, clean=ran + step)
    assert count_is_right(count_s=ran, span=span)
