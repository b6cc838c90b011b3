"""When work that waits for other work may start."""

from hypothesis import given
from hypothesis import strategies as st

from pool.lifecycle.workloads import ENDED, OPEN, WorkloadState
from pool.rules.dependencies import Pieces, Rule, Verdict, in_a_circle, judged, needed

STATES = st.sampled_from(sorted(WorkloadState)).map(WorkloadState)


@given(STATES, st.sampled_from([Rule.SUCCESS, Rule.END]))
def test_nothing_waits_for_ever_for_what_has_ended(state, rule):
    assert (judged(rule, state) is Verdict.OPEN) == (state in OPEN)


def test_success_is_met_by_success_alone_and_end_by_any_end():
    for state in ENDED:
        fine = state is WorkloadState.SUCCEEDED
        assert judged(Rule.SUCCESS, state) is (Verdict.MET if fine else Verdict.BROKEN)
        assert judged(Rule.END, state) is Verdict.MET


@given(st.integers(1, 1000), st.integers(1, 1000), st.data())
def test_a_share_is_met_or_broken_as_soon_as_that_is_certain(size, share, data):
    done = data.draw(st.integers(0, size))
    live = data.draw(st.integers(0, size - done))
    state = WorkloadState.ACTIVE if live else WorkloadState.FAILED
    said = judged(Rule.SHARE, state, pieces=Pieces(size, done, live), share_milli=share)
    wanted = needed(size, share)
    assert 1 <= wanted <= size
    assert (said is Verdict.MET) == (done >= wanted)
    assert (said is Verdict.BROKEN) == (done + live < wanted)


@given(st.dictionaries(st.integers(0, 8), st.frozensets(st.integers(0, 8), max_size=4)))
def test_a_circle_is_found_exactly_when_one_comes_back_to_itself(edges):
    def walks(here, seen):
        return any(
            there == start or (there not in seen and walks(there, seen | {there}))
            for there in edges.get(here, ())
        )

    for start in range(9):
        assert in_a_circle(edges, start) == walks(start, frozenset())
