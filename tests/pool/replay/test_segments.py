"""The check of a replay: it accepts what the planner does and finds every kind of fault."""

import random
from dataclasses import replace

import pytest

from pool.replay.queue import Job, Segment, Shape, replay
from pool.replay.segments import faults
from pool.scheduling.model import PriorityClass

SHAPE = Shape(nodes=3, cards=4)


def _jobs(seed, high):
    chance = random.Random(seed)
    clock = 0.0
    for number in range(60):
        clock += chance.expovariate(1 / 40)
        length = float(chance.choice([30, 200, 900]))
        yield Job(
            number=number,
            submit_s=clock,
            duration_s=length,
            declared_s=length * chance.choice([0.5, 1, 2]),
            gpus=chance.choice([1, 1, 1, 2, 4, 6, 8]),
            priority=PriorityClass.HIGH if chance.random() < high else PriorityClass.NORMAL,
            checkpoint_s=60.0,
        )


@pytest.mark.parametrize("policy", ["live", "easy", "fifo"])
@pytest.mark.parametrize("high", [0.0, 0.2])
def test_every_policy_keeps_the_rules_with_and_without_preemption(policy, high):
    jobs = list(_jobs(7, high))
    shape = replace(SHAPE, policy=policy)
    segments = list(replay(jobs, shape))
    assert faults(jobs, segments, shape) == ()
    assert {s.number for s in segments} == {job.number for job in jobs}


JOB = Job(1, 10.0, 100.0, 100.0, 6, checkpoint_s=30.0)
RUN = Segment(1, 10.0, 110.0, "0:4-1:2", 0.0)


@pytest.mark.parametrize(
    ("runs", "word"),
    [
        ([RUN], ""),
        ([replace(RUN, start_s=9.0, end_s=109.0)], "before it was sent"),
        ([replace(RUN, placement="0:3-1:3")], "ran as"),
        ([replace(RUN, placement="0:6")], "ran 6 cards"),
        ([replace(RUN, placement="0:4-7:2")], "does not exist"),
        ([replace(RUN, end_s=90.0)], "did 80.0 s"),
        ([replace(RUN, lost_s=31.0, end_s=141.0)], "checkpointed work"),
        ([replace(RUN, end_s=60.0), replace(RUN, start_s=50.0, end_s=220.0)], "ran twice"),
    ],
)
def test_every_fault_has_its_word(runs, word):
    found = faults([JOB], runs, SHAPE)
    assert any(word in one for one in found) if word else found == ()
