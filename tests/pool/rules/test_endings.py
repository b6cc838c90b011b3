"""What becomes of work when an attempt has ended."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import ExitReason
from pool.lifecycle.workloads import WORKLOAD, WorkloadState
from pool.rules.endings import LONGEST_WAIT_S, Ended, back_off_s, ending


def end(**given):
    words = {
        "exit_code": 0,
        "reason": None,
        "started": True,
        "stop_reason": "",
        "runs_left": 0,
        "starts_left": 0,
        "failures": 0,
    }
    return ending(Ended(**words | given))


def test_work_that_ends_with_zero_has_succeeded():
    assert end().state == "succeeded"
    assert end(reason=ExitReason.FINISHED).reason == "finished"


def test_a_signal_is_told_as_a_kill_and_another_code_as_its_own_error():
    assert end(exit_code=-9).reason == "killed"
    assert end(exit_code=3).reason == "own_error"


def test_without_retries_a_failure_is_the_end_and_with_them_uses_one_run():
    assert end(exit_code=1).state == "failed"
    again = end(exit_code=1, runs_left=1)
    assert (again.state, again.uses_run, again.uses_start, again.wait_s) == ("queued", 1, 0, 0)


def test_a_failed_start_uses_a_start_and_never_a_run():
    again = end(exit_code=None, started=False, starts_left=1, runs_left=5)
    assert (again.state, again.uses_run, again.uses_start) == ("queued", 0, 1)
    assert end(exit_code=None, started=False, runs_left=5).state == "failed"


OTHERS_FAULT = [
    ExitReason.NEIGHBOUR,
    ExitReason.FENCED,
    ExitReason.NODE_LOST,
    ExitReason.NODE_STOPPED,
]


@pytest.mark.parametrize("started", [True, False])
@pytest.mark.parametrize("reason", OTHERS_FAULT)
def test_an_end_by_somebody_elses_doing_uses_nothing_and_costs_nothing(reason, started):
    again = end(exit_code=-6 if started else None, reason=reason, started=started)
    assert (again.state, again.uses_run, again.uses_start) == ("queued", 0, 0)
    assert again.billable is False


def test_work_that_gave_way_uses_no_retry_and_pays_for_what_it_had():
    again = end(exit_code=-15, reason=ExitReason.PREEMPTED)
    assert (again.state, again.uses_run, again.billable) == ("queued", 0, True)


def test_work_whose_stop_was_ordered_ends_by_that_order_though_its_node_died():
    over = end(exit_code=None, reason=ExitReason.NODE_LOST, stop_reason="cancelled")
    assert (over.state, over.reason, over.billable) == ("cancelled", "cancelled", True)


@pytest.mark.parametrize(
    ("stop", "state"),
    [
        ("cancelled", "cancelled"),
        ("stopped", "stopped"),
        ("reclaimed", "reclaimed"),
        ("preempted", "queued"),
        ("limit", "expired"),
    ],
)
def test_an_ordered_stop_leads_where_its_reason_says(stop, state):
    assert end(exit_code=-15, stop_reason=stop, runs_left=3).state == state


def test_more_memory_than_allowed_is_never_tried_again():
    assert end(exit_code=-9, reason=ExitReason.LIMIT, runs_left=3).state == "failed"


def test_the_first_retry_is_at_once_and_later_ones_wait_longer_up_to_ten_minutes():
    assert [back_off_s(n) for n in range(5)] == [0, 10, 20, 40, 80]
    assert back_off_s(50) == LONGEST_WAIT_S


@given(
    exit_code=st.none() | st.integers(-64, 255),
    reason=st.none() | st.sampled_from(ExitReason),
    started=st.booleans(),
    runs_left=st.integers(0, 3),
    starts_left=st.integers(0, 3),
    failures=st.integers(0, 100),
)
def test_every_end_has_a_place_and_never_uses_what_is_not_left(**given):
    for stop in ("", "cancelled", "start_failed"):
        judged = end(stop_reason=stop, **given)
        assert judged.state in WorkloadState
        assert judged.uses_run <= given["runs_left"]
        assert judged.uses_start <= given["starts_left"]
        assert not (judged.uses_run and judged.uses_start)


def test_every_end_can_be_reached_from_where_work_may_be_stopped():
    stops = ("cancelled", "stopped", "reclaimed", "preempted", "limit", "start_failed")
    for stop, code in product(stops, (0, 1, -15, None)):
        judged = end(exit_code=code, stop_reason=stop, reason=None)
        assert WORKLOAD.allows(WorkloadState.STOPPING, judged.state)
        assert WORKLOAD.allows(WorkloadState.UNREACHABLE, judged.state)


@pytest.mark.parametrize(
    ("reason", "code", "state", "run", "start"),
    [
        (ExitReason.OWN_ERROR, 4, WorkloadState.FAILED, False, False),
        (ExitReason.FINISHED, 0, WorkloadState.SUCCEEDED, False, False),
        (ExitReason.OOM_HOST, -9, WorkloadState.FAILED, False, False),
        (ExitReason.START_FAILED, -15, WorkloadState.QUEUED, False, True),
        (ExitReason.START_FAILED, None, WorkloadState.QUEUED, False, True),
        (None, -15, WorkloadState.QUEUED, False, True),
    ],
)
def test_work_whose_start_was_given_up_and_that_ran_all_the_same_is_not_run_again(
    reason, code, state, run, start
):
    """Its node was out of reach when it began and ended."""
    told = end(reason=reason, exit_code=code, stop_reason="start_failed", starts_left=2)
    assert (told.state, told.uses_run, told.uses_start) == (state, run, start)
    if start is False:
        assert told.reason == reason
