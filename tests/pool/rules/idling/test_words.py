"""Words of rules and nights; who is a hog."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.idle import Rule
from pool.rules.idling.hogs import Use, hogs, is_hog
from pool.rules.idling.words import night_problems, rule_problems

FINE = {"idle_seconds": 7200, "warn_minutes": [30, 10, 2], "keeps": 3, "action": "reclaim"}
AT = datetime(2026, 5, 4, 18, 0, tzinfo=UTC)
HOG = Use(workload=1, memory_mib=6000, slice_mib=10_000, sm_percent=0.2, known_s=600.0)


def test_a_fine_rule_has_no_problem():
    assert rule_problems(FINE) == {}
    assert rule_problems(FINE | {"quiet_from": 1320, "quiet_until": 420}) == {}


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"idle_seconds": 299}, "idle_seconds"),
        ({"idle_seconds": True}, "idle_seconds"),
        ({"warn_minutes": [120]}, "warn_minutes"),
        ({"warn_minutes": [1, 2, 3, 4, 5, 6]}, "warn_minutes"),
        ({"warn_minutes": ["soon"]}, "warn_minutes"),
        ({"keeps": -1}, "keeps"),
        ({"action": "shout"}, "action"),
        ({"quiet_from": 60}, "quiet_from"),
        ({"quiet_from": 60, "quiet_until": 60}, "quiet_from"),
        ({"quiet_from": 60, "quiet_until": 1440}, "quiet_from"),
    ],
)
def test_each_wrong_word_is_named(words, field):
    assert list(rule_problems(FINE | words)) == [field]


@pytest.mark.parametrize(
    ("until", "reason", "field"),
    [
        (AT, "a run", "until"),
        (AT + timedelta(hours=25), "a run", "until"),
        (AT.replace(tzinfo=None), "a run", "until"),
        (AT + timedelta(hours=12), "  ", "reason"),
        (AT + timedelta(hours=12), "x" * 201, "reason"),
    ],
)
def test_a_night_is_within_a_day_and_has_a_reason(until, reason, field):
    assert list(night_problems(until=until, reason=reason, now=AT)) == [field]
    assert night_problems(until=AT + timedelta(hours=12), reason="a run", now=AT) == {}


@given(begins=st.integers(0, 1439), ends=st.integers(0, 1439), minute=st.integers(0, 1439))
def test_every_minute_is_either_of_the_night_or_of_the_day(begins, ends, minute):
    night = Rule(quiet_from=begins, quiet_until=ends)
    day = Rule(quiet_from=ends, quiet_until=begins)
    if begins != ends:
        assert night.quiet(minute) != day.quiet(minute)
    assert not Rule().quiet(minute)


def test_who_holds_memory_at_no_compute_is_a_hog_and_the_unknown_is_none():
    assert is_hog(HOG)
    assert not is_hog(replace(HOG, sm_percent=None))
    assert not is_hog(replace(HOG, memory_mib=None))
    assert not is_hog(replace(HOG, known_s=60.0))
    assert not is_hog(replace(HOG, sm_percent=40.0))
    assert not is_hog(replace(HOG, memory_mib=100))
    assert not is_hog(replace(HOG, slice_mib=0))
    larger = replace(HOG, workload=2, memory_mib=9000)
    assert hogs([HOG, larger, replace(HOG, sm_percent=None)]) == [larger, HOG]
