"""Recorded jobs through the live planner: waits beside first come first served and EASY."""

import os
import time
from dataclasses import dataclass, replace

import pytest

from pool.replay.queue import Shape, replay
from pool.replay.segments import faults
from pool.scheduling.model import PriorityClass
from tests.benchmarks import published

JOBS = int(os.environ.get("BENCH_JOBS", "1000000"))
"""At most so many of the recorded jobs; all of them unless told otherwise."""

SHAPE = Shape(nodes=75, cards=8)


def _say(text):
    print(f"\n{text}")  # noqa: T201


def _spread(waits):
    waits = sorted(waits)
    count = len(waits)
    return (
        f"mean {sum(waits) / count:.0f} s, p50 {waits[count // 2]:.0f},"
        f" p90 {waits[count * 9 // 10]:.0f}, p99 {waits[count * 99 // 100]:.0f},"
        f" longest {waits[-1]:.0f}"
    )


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
    """Waits of one replay, in seconds."""

    mean: float
    p99: float
    large: float
    longest: float


def _told(name, jobs, policy):
    waits, _, rate = _replayed(jobs, policy)
    large = [wait for job, wait in waits.items() if job.gpus >= 8]
    found = sorted(waits.values())
    told = Told(
        mean=sum(found) / len(found),
        p99=found[len(found) * 99 // 100],
        large=sum(large) / max(1, len(large)),
        longest=found[-1],
    )
    _say(
        f"{name}: {_spread(found)}, of 8 cards or more {told.large:.0f},"
        f" {len(found)} jobs, {rate:.0f} jobs a second"
    )
    return told


def _beside(name, told, fifo, easy):
    """The ratios that are to be reached, beside those of the same run."""
    _say(
        f"{name}: mean {told.mean / max(1.0, fifo.mean):.3f} of first come first served (0.075),"
        f" p99 {told.p99 / max(1.0, easy.p99):.2f} of EASY (0.4),"
        f" of 8 cards or more {told.large / max(1.0, easy.large):.2f} of EASY (0.9),"
        f" longest {told.longest:.0f} s (250000)"
    )


def test_waits_beside_first_come_first_served_and_easy():
    folder = published.traces()
    if folder is None:
        return
    jobs = published.philly(folder, JOBS)
    fifo, easy, live = (_told(policy, jobs, policy) for policy in ("fifo", "easy", "live"))
    double = _told("live, times doubled", published.philly(folder, JOBS, factor=2.0), "live")
    _say(f"easy / fifo {easy.mean / max(1.0, fifo.mean):.3f}")
    _beside("live", live, fifo, easy)
    _beside("live, times doubled", double, fifo, easy)
    assert live.mean <= fifo.mean


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_high_work_starts_within_the_notice_and_interrupts_few(factor):
    folder = published.traces()
    if folder is None:
        return
    jobs = [
        replace(
            job,
            priority=PriorityClass.NORMAL if job.number % 5 else PriorityClass.HIGH,
            checkpoint_s=1800.0,
        )
        for job in published.philly(folder, JOBS, factor=factor)
    ]
    waits, segments, rate = _replayed(jobs, "live")
    high = [wait for job, wait in waits.items() if job.priority is PriorityClass.HIGH]
    orders = len(segments) - len(jobs)
    _say(
        f"high, times declared x {factor:.0f}: {_spread(high)},"
        f" {orders / len(high):.2f} orders each, {rate:.0f} jobs a second;"
        f" all: {_spread(waits.values())}"
    )
    assert orders <= len(high)
