"""The learned class of memory bandwidth: from enough measured runs, the newest ones, by halves."""

from hypothesis import given
from hypothesis import strategies as st

from pool.rules.learning.bandwidth import LEAST_RUNS, NEWEST, Run, learned


def heavy(count, known=1.0):
    return [Run(80.0, known)] * count


def light(count):
    return [Run(10.0, 1.0)] * count


def test_half_of_the_runs_make_work_heavy():
    assert learned(heavy(2) + light(2)).heavy
    assert not learned(heavy(2) + light(3)).heavy


def test_nothing_is_learned_from_too_few_runs_or_from_runs_that_nobody_measured():
    assert learned(heavy(2)) is None
    assert learned(heavy(2) + heavy(9, known=0.4)) is None
    assert learned(heavy(3)).heavy


def test_the_newest_runs_count_alone():
    found = learned(light(NEWEST) + heavy(100))
    assert (found.heavy, found.runs, found.heavy_runs, found.percent) == (False, NEWEST, 0, 10.0)


@given(st.lists(st.builds(Run, st.floats(0, 100), st.floats(0, 1)), max_size=40))
def test_the_evidence_is_of_runs_that_were_known(runs):
    found = learned(runs)
    known = [run for run in runs if run.known >= 0.5][:NEWEST]
    assert (found is None) == (len(known) < LEAST_RUNS)
    if found is not None:
        assert found.runs == len(known) and found.heavy == (2 * found.heavy_runs >= found.runs)
