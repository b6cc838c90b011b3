"""One picture a second and topic: who is touched too early waits and is drawn once for all."""

from hypothesis import given
from hypothesis import strategies as st

from portal.live.pace import PACE_S, USE_S, Pace
from portal.live.seat import Seat


def seat(*topics):
    made = Seat(None, "en", "s")
    made.keys.update(dict.fromkeys(topics, "k"))
    return made


def taken(pace, now, **wanted):
    return {topic: set(seats) for topic, seats in pace.take(wanted, now)}


def test_the_first_change_is_drawn_at_once_and_the_next_a_second_later_for_all_who_wait():
    pace, one, other = Pace(), seat("home"), seat("home")
    assert taken(pace, 10.0, home=[one]) == {"home": {one}}
    assert taken(pace, 10.3, home=[one]) == {}
    assert taken(pace, 10.6, home=[other]) == {}
    assert abs(pace.due_in(10.6) - 0.4) < 1e-9
    assert taken(pace, 11.0) == {"home": {one, other}}
    assert pace.due_in(11.0) is None


def test_who_has_looked_away_or_gone_is_not_drawn_for_and_holds_nobody_up():
    pace, away, gone = Pace(), seat("home"), seat("home")
    taken(pace, 0.0, home=[away])
    taken(pace, 0.5, home=[away, gone])
    away.leave("home")
    gone.gone = True
    assert taken(pace, 1.0) == {}
    assert pace.due_in(1.0) is None


def test_logs_flow_and_the_whole_pool_s_use_goes_slower():
    pace, one = Pace(), seat("log:wl", "use")
    assert set(taken(pace, 0.0, **{"log:wl": [one], "use": [one]})) == {"log:wl", "use"}
    assert set(taken(pace, 0.3, **{"log:wl": [one], "use": [one]})) == {"log:wl"}
    assert taken(pace, PACE_S) == {}
    assert taken(pace, USE_S) == {"use": {one}}


@given(st.lists(st.floats(0.01, 3.0), min_size=1, max_size=60))
def test_however_often_it_is_touched_nothing_is_lost_and_no_second_has_two(steps):
    pace, one, now, drawn, touched = Pace(), seat("home"), 0.0, [], []
    for step in steps:
        now += step
        touched.append(now)
        if taken(pace, now, home=[one]):
            drawn.append(now)
    due = pace.due_in(now)
    if due is not None:
        now += due + 1e-9
        assert taken(pace, now) == {"home": {one}}
        drawn.append(now)
    assert drawn[-1] >= touched[-1]
    assert all(b - a >= PACE_S - 1e-6 for a, b in zip(drawn, drawn[1:], strict=False))
