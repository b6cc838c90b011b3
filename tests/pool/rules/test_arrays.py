"""Pieces of arrays: which numbers a text names, and what the whole of them amounts to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.lifecycle.workloads import ENDED, OPEN, WORKLOAD, WorkloadState
from pool.rules.arrays import (
    MOST_PIECES,
    Array,
    array_problem,
    at_once,
    indices_of,
    lasting,
    spec_of,
    tally,
    whole_state,
)

COUNTS = st.dictionaries(st.sampled_from(sorted(WorkloadState)), st.integers(1, 50))


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("0", (0,)),
        ("0-3", (0, 1, 2, 3)),
        ("7,1-2", (1, 2, 7)),
        ("0-10:5", (0, 5, 10)),
        ("3,3,2-3", (2, 3)),
        (" 1 - 3 , 9 ", (1, 2, 3, 9)),
    ],
)
def test_a_text_names_numbers_and_spans(spec, found):
    assert indices_of(spec) == found


@pytest.mark.parametrize("spec", ["", "a", "1-", "-1", "3-1", "1-5:0", "1;2", "0-1000001", "٣"])
def test_a_text_that_is_no_list_of_numbers_is_refused(spec):
    with pytest.raises(ValueError):
        indices_of(spec)
    assert array_problem(Array(spec)) is not None


def test_an_array_has_at_most_ten_thousand_pieces():
    assert len(indices_of(f"0-{MOST_PIECES - 1}")) == MOST_PIECES
    assert array_problem(Array(f"0-{MOST_PIECES}")) is not None


@pytest.mark.parametrize("throttle", [0, -1, MOST_PIECES + 1])
def test_a_throttle_lets_at_least_one_piece_run(throttle):
    assert array_problem(Array("0-9", throttle)) is not None
    assert array_problem(Array("0-9", 1)) is None


@given(st.sets(st.integers(0, 5000), min_size=1, max_size=200))
def test_the_shortest_text_names_the_same_numbers_again(indices):
    assert indices_of(spec_of(indices)) == tuple(sorted(indices))


@given(COUNTS)
def test_the_counts_of_people_add_up_to_all_pieces(states):
    found = tally(states)
    assert found.size == sum(states.values())
    live = sum(count for state, count in states.items() if state in OPEN)
    assert found.live == live


@given(COUNTS, st.sampled_from(["", "cancelled"]))
def test_an_array_ends_exactly_when_its_last_piece_has(states, reason):
    then = whole_state(states, stop_reason=reason)
    over = bool(states) and set(states) <= {str(state) for state in ENDED}
    assert (then is not None) == over
    if then is not None:
        assert WORKLOAD.allows(WorkloadState.ACTIVE, then)


@pytest.mark.parametrize(
    ("states", "then"),
    [
        ({"succeeded": 3}, "succeeded"),
        ({"succeeded": 3, "failed": 1, "cancelled": 1}, "failed"),
        ({"succeeded": 3, "expired": 1}, "failed"),
        ({"succeeded": 3, "cancelled": 1}, "cancelled"),
        ({"succeeded": 3, "stopped": 1}, "stopped"),
        ({"dependency_failed": 2, "succeeded": 1}, "dependency_failed"),
        ({"succeeded": 3, "queued": 1}, None),
        ({}, None),
    ],
)
def test_one_piece_that_failed_fails_the_whole(states, then):
    assert whole_state(states) == then


def test_an_ordered_end_names_the_whole_by_its_order():
    assert whole_state({"succeeded": 2, "cancelled": 3}, stop_reason="cancelled") == "cancelled"
    assert whole_state({"stopped": 2, "cancelled": 3}, stop_reason="stopped") == "stopped"


def test_a_lease_for_an_array_lasts_as_long_as_all_its_turns():
    assert at_once(20, 3) == 3
    assert at_once(2, 3) == 2
    assert at_once(20, None) == 20
    assert lasting(60, 20, 3) == 7 * 60
    assert lasting(60, 20, 20) == 60
