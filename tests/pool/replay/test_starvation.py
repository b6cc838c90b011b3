"""Nobody starves: whatever goes on arriving, each job starts within a bound of its own past."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pool.replay.queue import Job, Shape, replay
from pool.scheduling.model import PriorityClass, Rules

CARDS = 4


def _counts_as_come(job):
    """When the job counts as having come; whoever counts as come later never goes before it."""
    return job.submit_s + min(job.declared_s, Rules().length_most_s)


def _bound(job, jobs):
    """If all that counts as come before it ran one after the other, and the longest just began."""
    mine = _counts_as_come(job)
    before = [other for other in jobs if _counts_as_come(other) <= mine]
    longest = max(other.duration_s for other in jobs if other.submit_s <= mine)
    return mine + sum(other.duration_s for other in before) + longest


def _starts(jobs, policy="live"):
    shape = Shape(nodes=1, cards=CARDS, policy=policy)
    return {segment.number: segment.start_s for segment in replay(jobs, shape)}


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from([5, 20, 80]), st.sampled_from([1, 1, 2, 4])),
        min_size=2,
        max_size=25,
    ),
    st.sampled_from([1, 2, 4]),
)
def test_every_job_starts_within_a_bound_that_no_later_arrival_moves(told, cards):
    """After them a stream of short work that alone is more than the cards can do."""
    jobs = [Job(i, float(t), float(d), float(d), n) for i, (t, d, n) in enumerate(sorted(told))]
    stream = [Job(100 + i, i * 5.0, 10.0, 10.0, cards) for i in range(150)]
    both = [*jobs, *stream]
    started = _starts(both)
    for job in jobs:
        assert started[job.number] <= _bound(job, both)


@pytest.mark.parametrize("policy", ["live", "easy", "fifo"])
def test_a_large_job_starts_while_small_ones_go_on_arriving(policy):
    stream = [Job(i, i * 2.0, 10.0, 10.0, 1) for i in range(400)]
    large = Job(999, 101.0, 50.0, 50.0, CARDS)
    started = _starts([*stream, large], policy)
    assert started[999] <= _bound(large, [*stream, large])
    assert started[999] < started[399]


def test_low_work_that_gives_way_again_and_again_is_done_in_the_end():
    """Higher work goes on arriving; what was saved adds up to all of the low work."""
    high = [Job(i, i * 20.0, 10.0, 10.0, CARDS, PriorityClass.HIGH) for i in range(30)]
    low = Job(99, 0.5, 15.0, 15.0, CARDS, PriorityClass.LOW, checkpoint_s=1.0)
    segments = list(replay([*high, low], Shape(nodes=1, cards=CARDS, grace_s=1.0, restart_s=1.0)))
    mine = [segment for segment in segments if segment.number == 99]
    kept = sum(s.end_s - s.start_s - s.lost_s for s in mine) - (len(mine) - 1) * 1.0
    assert kept == pytest.approx(15.0)
