"""Recorded jobs through the live planner: waits beside first come first served and EASY."""

import os
import time
from dataclasses import replace

from pool.replay.queue import Shape, replay
from pool.replay.segments import faults
from pool.scheduling.model import PriorityClass
from tests.benchmarks import published

JOBS = int(os.environ.get("BENCH_JOBS", "5000"))
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


def _told(name, jobs, policy):
    waits, _, rate = _replayed(jobs, policy)
    large = [wait for job, wait in waits.items() if job.gpus >= 8]
    _say(
        f"{name}: {_spread(waits.values())}, of 8 cards or more"
        f" {sum(large) / max(1, len(large)):.0f}, {rate:.0f} jobs a second"
    )
    return sum(waits.values()) / len(waits)


def test_waits_beside_first_come_first_served_and_easy():
    folder = published.traces()
    if folder is None:
        return
    jobs = published.philly(folder, JOBS)
    means = {policy: _told(policy, jobs, policy) for policy in ("fifo", "easy", "live")}
    double = _told("live, times doubled", published.philly(folder, JOBS, factor=2.0), "live")
    _say(f"live / fifo {means['live'] / means['fifo']:.3f}, doubled {double / means['fifo']:.3f}")
    assert means["live"] <= means["fifo"]


def test_high_work_starts_within_the_notice_and_interrupts_few():
    folder = published.traces()
    if folder is None:
        return
    jobs = [
        replace(
            job,
            priority=PriorityClass.NORMAL if job.number % 5 else PriorityClass.HIGH,
            checkpoint_s=1800.0,
        )
        for job in published.philly(folder, JOBS)
    ]
    waits, segments, rate = _replayed(jobs, "live")
    high = [wait for job, wait in waits.items() if job.priority is PriorityClass.HIGH]
    orders = len(segments) - len(jobs)
    _say(f"high: {_spread(high)}, {orders / len(high):.2f} orders each, {rate:.0f} jobs a second")
    assert orders <= len(high)
