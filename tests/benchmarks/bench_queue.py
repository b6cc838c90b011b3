"""Recorded jobs through the live planner: waits beside first come first served and EASY."""

import os
import time
from dataclasses import dataclass, replace

import pytest

from pool.replay.queue import Shape, replay
from pool.replay.segments import faults
from pool.scheduling.model import PriorityClass
from tests.benchmarks import published
from tests.benchmarks.full import FULL, mean, percentile, say, table
from tests.benchmarks.plain import first_come

JOBS = int(os.environ.get("BENCH_JOBS", "1000000"))
"""At most so many of the recorded jobs; all of them unless told otherwise."""

SHAPE = Shape(nodes=75, cards=8)
SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
CHECKPOINT_S = 1800.0

OF_FIFO, P99_OF_EASY, LARGE_OF_EASY, LONGEST_S = 0.075, 0.4, 0.9, 250_000.0
"""To be reached: the mean beside first come first served, and p99 and large jobs beside EASY."""

HIGH_MEAN_S, ORDERS = 16.0, 0.30
"""To be reached with preemption: the mean wait of urgent jobs, and how many leave for each."""


def _replayed(jobs, policy):
    """The waits by job and the runs; every run is checked."""
    shape = replace(SHAPE, policy=policy)
    begun = time.process_time()
    segments = list(replay(jobs, shape))
    rate = len(jobs) / (time.process_time() - begun)
    assert faults(jobs, segments, shape) == ()
    first = {}
    for segment in segments:
        first[segment.number] = min(segment.start_s, first.get(segment.number, segment.start_s))
    return {job: first[job.number] - job.submit_s for job in jobs}, segments, rate


@dataclass(frozen=True)
class Told:
    """Waits of one replay, in seconds; `large` is the mean of jobs of eight cards or more."""

    mean: float
    p50: float
    p90: float
    p99: float
    longest: float
    large: float


def _told(name, jobs, policy):
    waits, _, rate = _replayed(jobs, policy)
    told = _of(waits)
    say(f"{name}: {len(waits)} jobs, {rate:.0f} jobs a second, {told}")
    return told


def _of(waits):
    return _spread(waits.values(), [wait for job, wait in waits.items() if job.gpus >= 8])


def _spread(waits, large=()):
    found = sorted(waits)
    at = {name: percentile(found, share) for name, share in SHARES.items()}
    return Told(mean(found), **at, longest=found[-1], large=mean(large or [0.0]))


def _row(name, told, plain, easy):
    """One line of the table: the waits, and what they are beside the plain policies."""
    beside = (
        f"p99 {told.p99 / max(1.0, easy.p99):.2f}, large {told.large / max(1.0, easy.large):.2f}"
    )
    values = (told.p50, told.p90, told.p99, told.longest, told.large)
    ratio = f"{told.mean / max(1.0, plain.mean):.3f}"
    return [
        name,
        f"{told.mean:,.0f}",
        ratio,
        *(f"{one:,.0f}" for one in values),
        "" if told is easy else beside,
    ]


def test_waits_beside_first_come_first_served_and_easy():
    folder = published.traces()
    if folder is None:
        return
    jobs = published.philly(folder, JOBS)
    plain = _of(first_come(jobs, SHAPE.nodes, SHAPE.cards))
    fifo, easy, live = (_told(policy, jobs, policy) for policy in ("fifo", "easy", "live"))
    double = _told("live, times doubled", published.philly(folder, JOBS, factor=2.0), "live")
    named = {
        "first come first served, best fit": plain,
        "first come first served, placed by the planner": fifo,
        "EASY": easy,
        "**here, exact times**": live,
        "**here, declared twice too long**": double,
    }
    heads = ["policy", "mean", "÷ first come", "p50", "p90", "p99", "longest", "large"]
    rows = [_row(name, told, plain, easy) for name, told in named.items()]
    say(table([*heads, "here ÷ EASY"], rows))
    assert live.mean <= min(plain.mean, fifo.mean)
    for told in (live, double) if FULL else ():
        assert told.mean <= OF_FIFO * plain.mean
        assert told.p99 <= P99_OF_EASY * easy.p99
        assert told.large <= LARGE_OF_EASY * easy.large
        assert told.longest <= LONGEST_S


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_high_work_starts_within_the_notice_and_interrupts_few(factor):
    folder = published.traces()
    if folder is None:
        return
    jobs = [
        replace(
            job,
            priority=PriorityClass.NORMAL if job.number % 5 else PriorityClass.HIGH,
            checkpoint_s=CHECKPOINT_S,
        )
        for job in published.philly(folder, JOBS, factor=factor)
    ]
    waits, segments, rate = _replayed(jobs, "live")
    high = [wait for job, wait in waits.items() if job.priority is PriorityClass.HIGH]
    orders = (len(segments) - len(jobs)) / len(high)
    mine, everybody = _spread(high), _spread(waits.values())
    waited = 100 * sum(wait > 0 for wait in high) / len(high)
    say(f"high, times declared x {factor:.0f}: {rate:.0f} jobs a second, {mine}; all: {everybody}")
    heads = ["with preemption", "high: mean", "p99", "longest", "waited at all"]
    heads += ["orders to leave for each", "all: mean", "longest"]
    row = [f"declared x {factor:.0f}", f"**{mine.mean:.1f}**", f"{mine.p99:.0f}"]
    row += [f"{mine.longest:.0f}", f"{waited:.0f} %", f"{orders:.2f}"]
    say(table(heads, [[*row, f"{everybody.mean:,.0f}", f"{everybody.longest:,.0f}"]]))
    assert orders <= 1.0
    assert all(segment.lost_s <= CHECKPOINT_S for segment in segments), "saved work is never lost"
    if FULL:
        assert mine.mean <= HIGH_MEAN_S and mine.p99 <= SHAPE.grace_s
        assert orders <= ORDERS
