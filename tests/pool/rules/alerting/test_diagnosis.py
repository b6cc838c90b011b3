"""Hints from numbers: every row of the table has a case that finds it, and one that must not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.alerting.diagnosis import (
    HINTS,
    LABELS,
    diagnose,
    dips,
    mean,
    spread,
    swings,
    tenth,
)

CASES = {
    "bandwidth": {"util": 99, "memory": 20, "bandwidth": 93},
    "split": {"memory": 95, "sm": 3},
    "starved": {"util": 12, "memory": 40},
    "loader": {"swings": 30, "util_low": 15, "util_high": 85, "cpu": 97},
    "checkpoints": {"dips": 4, "dips_writing": 100},
    "ranks": {"rank_high": 95, "rank_low": 30},
    "cuda": {"cuda_missing": 1},
    "oom": {"oom": 1, "peak_mib": 20_000, "asked_mib": 20_480},
    "neighbour": {"jitter": 60, "neighbours": 2},
    "heat": {"temperature": 86},
    "throttle": {"throttle": 40},
    "reset": {"resets": 1},
    "struck": {"struck": 1},
    "stuck": {"preempted": 3, "quiet": 1800, "sm": 0},
    "kernels": {"util": 90, "occupancy": 12, "memory": 60},
}


def keys(figures):
    return [one.hint.key for one in diagnose(figures)]


def test_every_hint_has_a_case_here_and_words_for_its_figures():
    assert set(CASES) == {hint.key for hint in HINTS}
    for hint in HINTS:
        for name in [*(name for name, _s, _n in hint.when), *hint.shows]:
            assert name in LABELS, (hint.key, name)


@pytest.mark.parametrize("key", CASES)
def test_each_pattern_is_found_with_the_numbers_behind_it(key):
    found = {one.hint.key: one for one in diagnose(CASES[key])}
    assert key in found
    told = {name: value for name, value, _against in found[key].numbers}
    assert told == {name: CASES[key][name] for name in told}
    assert told


@pytest.mark.parametrize("key", CASES)
def test_what_is_not_known_points_to_nothing(key):
    hint = next(one for one in HINTS if one.key == key)
    for name, _sign, _limit in hint.when:
        assert key not in keys(CASES[key] | {name: None})
    assert keys({}) == []


def test_healthy_work_gets_no_hint():
    well = {
        **{"util": 88, "sm": 80, "occupancy": 55, "memory": 70, "bandwidth": 60, "cpu": 40},
        **{"swings": 0, "util_low": 80, "util_high": 95, "dips": 0, "temperature": 62},
        **{"throttle": 0, "jitter": 4, "neighbours": 0, "resets": 0, "preempted": 0, "oom": 0},
    }
    assert keys(well) == []


def test_a_saw_is_counted_and_a_flat_curve_is_not():
    saw = [90, 10] * 30
    assert swings(saw, 3600) == 30
    assert swings([70] * 60, 3600) == 0
    assert swings([None, 80], 3600) is None


def test_drops_are_counted_and_those_during_writes_apart():
    curve = [90, 90, 90, 10, 90, 90, 90, 10, 90]
    writes = [0, 0, 0, 300, 0, 0, 0, 0, 0]
    assert dips(curve, writes, 3600) == (2, 50)
    assert dips([90] * 9, writes, 3600) == (0, None)
    assert dips(curve, [None] * 9, 3600) == (None, None)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1000)), max_size=50))
def test_statistics_are_within_what_they_are_of_and_never_made_up(values):
    known = [value for value in values if value is not None]
    for found in (mean(values), tenth(values, 0.1), tenth(values, 0.9)):
        assert (found is None) == (not known)
        if known:
            assert min(known) - 1e-6 <= found <= max(known) + 1e-6
    assert spread(values) is None or spread(values) >= 0
