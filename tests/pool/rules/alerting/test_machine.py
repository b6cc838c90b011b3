"""Alerts fire once and end once; flapping is slowed; what is unknown moves nothing."""

from hypothesis import given
from hypothesis import strategies as st

from pool.rules.alerting.machine import (
    LEAST_CLEAR_S,
    Look,
    Phase,
    Timing,
    Turn,
    Watch,
    look_at,
    slower,
    step,
)

TIMINGS = st.builds(Timing, st.integers(0, 300), st.integers(0, 300))
LOOKS = st.sampled_from(
    [Look(True, False), Look(False, True), Look(False, False), Look(None, None)]
)
STORY = st.lists(st.tuples(st.integers(0, 120), LOOKS), max_size=60)


def told(timing, story):
    watch, at, turns = Watch(), 0.0, []
    for gap, look in story:
        at += gap
        watch, turn = step(timing, watch, look, at)
        if turn is not None:
            turns.append((turn, at))
    return watch, turns


@given(TIMINGS, STORY)
def test_between_two_fires_there_is_one_end_and_ends_follow_fires(timing, story):
    _watch, turns = told(timing, story)
    kinds = [turn for turn, _at in turns if turn in {Turn.FIRE, Turn.RESOLVE}]
    assert kinds == [Turn.FIRE, Turn.RESOLVE] * (len(kinds) // 2) + [Turn.FIRE] * (len(kinds) % 2)


@given(TIMINGS, STORY, st.integers(1, 30))
def test_what_is_bad_for_good_fires_exactly_once_and_well_for_good_ends_exactly_once(
    timing, story, looks
):
    bad = [(60, Look(True, False))] * 20
    well = [(60, Look(False, True))] * 20
    watch, turns = told(timing, [*bad, *well])
    assert [turn for turn, _at in turns if turn is not Turn.PEND] == [Turn.FIRE, Turn.RESOLVE]
    assert watch.phase is Phase.NONE


@given(TIMINGS, STORY)
def test_nothing_fires_before_its_time_and_unknown_moves_nothing(timing, story):
    watch, at, since = Watch(), 0.0, None
    for gap, look in story:
        at += gap
        before = watch
        watch, turn = step(timing, watch, look, at)
        if look.bad is None:
            assert turn is None
            assert watch.phase is before.phase
        if before.phase is Phase.NONE and look.bad:
            since = at
        if turn is Turn.FIRE:
            assert since is not None
            assert at - since >= timing.for_s


def test_between_the_thresholds_an_alert_neither_begins_nor_ends():
    words = {"side": "above", "threshold": 80.0, "clear": 77.0}
    assert look_at(79.0, **words) == Look(False, False)
    assert look_at(80.1, **words) == Look(True, False)
    assert look_at(77.0, **words) == Look(False, True)
    assert look_at(None, **words) == Look(None, None)
    below = {"side": "below", "threshold": 20.0, "clear": None}
    assert look_at(19.9, **below) == Look(True, False)
    assert look_at(20.0, **below) == Look(False, True)


def test_a_wobble_at_the_threshold_is_one_alert_and_unknown_stops_the_count_of_well():
    timing = Timing(0, 60)
    wobble = [(10, Look(True, False)), (10, Look(False, True))] * 10
    _watch, turns = told(timing, wobble)
    assert [turn for turn, _at in turns] == [Turn.FIRE]
    story = [
        *((10, Look(True, False)), (10, Look(False, True)), (50, Look(None, None))),
        (20, Look(False, True)),
    ]
    assert [turn for turn, _at in told(timing, story)[1]] == [Turn.FIRE]


@given(TIMINGS, st.integers(0, 40))
def test_who_flaps_has_to_be_well_for_longer_each_time_up_to_an_end(timing, flaps):
    now, then = slower(timing, flaps), slower(timing, flaps + 1)
    assert timing.clear_s <= now.clear_s <= then.clear_s
    assert now.for_s == timing.for_s
    assert then.clear_s >= LEAST_CLEAR_S
    assert then.clear_s <= max(timing.clear_s, LEAST_CLEAR_S) * 32
