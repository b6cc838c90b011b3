"""Replaying a queue: no card twice, all work done, nobody overtaken by first come first served."""

import random

import pytest

from pool.replay.queue import Job, Shape, replay
from pool.scheduling.model import PriorityClass

SHAPE = Shape(nodes=3, cards=4)
HIGH, NORMAL = PriorityClass.HIGH, PriorityClass.NORMAL


def _jobs(seed, count=40, high=0.0, checkpoint=None, tenants=1):
    chance = random.Random(seed)
    made, clock = [], 0.0
    for number in range(count):
        clock += chance.expovariate(1 / 40)
        duration = float(chance.choice([30, 200, 900]))
        made.append(
            Job(
                number=number,
                submit_s=clock,
                duration_s=duration,
                declared_s=duration * chance.choice([1, 2]),
                gpus=chance.choice([1, 1, 1, 2, 4, 6, 8]),
                priority=HIGH if chance.random() < high else NORMAL,
                tenant=f"t{chance.randrange(tenants)}",
                checkpoint_s=checkpoint,
            )
        )
    return made


def _first(segments):
    started = {}
    for segment in sorted(segments, key=lambda s: s.start_s):
        started.setdefault(segment.number, segment.start_s)
    return started


def _counts(segment):
    return {int(n): int(c) for n, c in (p.split(":") for p in segment.placement.split("-"))}


@pytest.mark.parametrize("policy", ["live", "fifo", "easy"])
def test_no_node_ever_runs_more_than_it_has_and_all_work_is_done(policy):
    jobs = _jobs(1, tenants=2)
    segments = list(replay(jobs, Shape(nodes=3, cards=4, policy=policy)))
    assert sorted(s.number for s in segments) == [job.number for job in jobs]
    for at in {s.start_s for s in segments}:
        busy = dict.fromkeys(range(3), 0)
        for s in segments:
            if s.start_s <= at < s.end_s:
                for node, count in _counts(s).items():
                    busy[node] += count
        assert max(busy.values()) <= 4
    for job, s in zip(jobs, sorted(segments, key=lambda s: s.number), strict=True):
        assert s.start_s >= job.submit_s
        assert s.end_s - s.start_s == pytest.approx(job.duration_s)
        counts = _counts(s)
        assert sum(counts.values()) == job.gpus
        assert len(counts) == 1 if job.gpus <= 4 else sorted(counts.values())[-1] == 4


def test_first_come_first_served_starts_in_the_order_of_arrival():
    started = _first(replay(_jobs(2), Shape(nodes=3, cards=4, policy="fifo")))
    order = sorted(started, key=lambda number: (started[number], number))
    assert order == sorted(started)


def test_slipping_in_waits_less_than_first_come_first_served():
    def mean(policy):
        jobs = _jobs(3, count=60)
        started = _first(replay(jobs, Shape(nodes=3, cards=4, policy=policy)))
        return sum(started[j.number] - j.submit_s for j in jobs) / len(jobs)

    assert mean("live") <= mean("easy") <= mean("fifo")


def test_with_exact_times_a_head_starts_no_later_than_without_backfill():
    """The backfill law: one large job waits, small ones slip in, and the large one is not late."""
    jobs = [
        Job(0, 0.0, 100.0, 100.0, 3),
        Job(1, 1.0, 50.0, 50.0, 4),
        Job(2, 2.0, 90.0, 90.0, 1),
        Job(3, 3.0, 500.0, 500.0, 1),
    ]
    started = _first(replay(jobs, Shape(nodes=1, cards=4)))
    assert started == {0: 0.0, 1: 100.0, 2: 2.0, 3: 150.0}


def test_high_work_starts_within_the_grace_and_checkpoints_lose_nothing_older():
    jobs = _jobs(4, count=50, high=0.2, checkpoint=10.0)
    segments = list(replay(jobs, SHAPE))
    done = dict.fromkeys(range(50), 0.0)
    runs = dict.fromkeys(range(50), 0)
    for s in segments:
        restart = SHAPE.restart_s if runs[s.number] else 0.0
        runs[s.number] += 1
        assert 0.0 <= s.lost_s < 10.0
        done[s.number] += max(0.0, s.end_s - s.start_s - restart) - s.lost_s
    assert max(runs.values()) > 1
    for job in jobs:
        assert done[job.number] == pytest.approx(job.duration_s)


def test_without_checkpoints_a_preempted_job_starts_over():
    jobs = [
        Job(0, 0.0, 1000.0, 1000.0, 4),
        Job(1, 100.0, 50.0, 50.0, 4, priority=HIGH),
    ]
    segments = list(replay(jobs, Shape(nodes=1, cards=4)))
    first, high, again = sorted(segments, key=lambda s: s.start_s)
    assert (first.number, first.end_s, first.lost_s) == (0, 160.0, 160.0)
    assert (high.number, high.start_s, high.end_s) == (1, 160.0, 210.0)
    assert (again.number, again.start_s, again.end_s) == (0, 210.0, 210.0 + 120.0 + 1000.0)


def test_the_same_record_gives_the_same_answer():
    assert list(replay(_jobs(5, high=0.2), SHAPE)) == list(replay(_jobs(5, high=0.2), SHAPE))
