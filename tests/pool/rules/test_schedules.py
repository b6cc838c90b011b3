"""What becomes of the times of a schedule."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.schedules import LATE, Act, Missed, Overlap, turns

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUNS = {Act.RUN, Act.RUN_AFTER, Act.REPLACE}


def said(*minutes, overlap=Overlap.SKIP, missed=Missed.SKIP, busy=False):
    due = [AT - timedelta(minutes=one) for one in minutes]
    made = turns(due, at=AT, overlap=overlap, missed=missed, busy=busy)
    return [one.act for one in made]


def test_a_time_that_has_just_come_runs():
    assert said(0) == [Act.RUN]
    assert said(5) == [Act.RUN]
    assert said() == []


def test_a_time_long_past_runs_only_where_the_policy_says_once():
    assert said(6) == [Act.MISS]
    assert said(6, missed=Missed.ONCE) == [Act.RUN]


def test_of_many_missed_times_one_runs():
    assert said(180, 120, 60, missed=Missed.ONCE) == [Act.MISS, Act.MISS, Act.RUN]
    assert said(180, 120, 60) == [Act.MISS] * 3
    assert said(120, 60, 0) == [Act.MISS, Act.MISS, Act.RUN]


@pytest.mark.parametrize(
    ("overlap", "act"),
    [
        (Overlap.SKIP, Act.SKIP),
        (Overlap.QUEUE, Act.RUN_AFTER),
        (Overlap.REPLACE, Act.REPLACE),
    ],
)
def test_a_run_that_still_lives_is_met_by_the_policy(overlap, act):
    assert said(0, overlap=overlap, busy=True) == [act]
    assert said(0, overlap=overlap) == [Act.RUN]


@given(
    st.lists(st.integers(0, 10_000), unique=True).map(lambda found: sorted(found, reverse=True)),
    st.sampled_from(sorted(Overlap)).map(Overlap),
    st.sampled_from(sorted(Missed)).map(Missed),
    st.booleans(),
)
def test_every_time_gets_an_answer_and_at_most_the_newest_runs(minutes, overlap, missed, busy):
    acts = said(*minutes, overlap=overlap, missed=missed, busy=busy)
    assert len(acts) == len(minutes)
    assert not RUNS & set(acts[:-1])
    if minutes and timedelta(minutes=minutes[-1]) > LATE and missed is Missed.SKIP:
        assert not RUNS & set(acts)
