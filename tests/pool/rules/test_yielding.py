"""The books refuse nobody whom the planner may choose: both over every combination."""

from itertools import product

import pytest

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.cycle.evict import kind_of
from pool.lifecycle.roles import Priority, WorkClass
from pool.lifecycle.yielding import YieldKind
from pool.rules.yielding import TRAINING, Holder, over_cap, refusal
from pool.scheduling.board import build
from pool.scheduling.model import Eviction, PartitionState, PriorityClass
from pool.scheduling.victims import eligible
from tests.builders import snapshot, whole

RUNS = [
    dict(zip(("priority_class", "purpose", "kind", "checkpointed"), some, strict=True))
    | dict(zip(("preemptible", "borrowed", "ends"), more, strict=True))
    for *some, more in product(
        PriorityClass,
        ("pretraining", "training", "inference"),
        (WorkloadKind.JOB, WorkloadKind.REPLICA),
        (False, True),
        product((False, True), (False, True), (9000, -301)),
    )
]
WINNERS = list(product(PriorityClass, ("training", "inference"), (False, True)))


def world(mixed, preemption):
    """Everything that can run, one on each card, in a partition whose owner is `p1`."""
    part = PartitionState(id=1, name="main", preemption=preemption)
    made = snapshot().node("n1").card("A30", count=len(RUNS), modes=("whole",), mixed=mixed)
    made = made.have(partitions=(part,)).quota("p1", 1000, kind="entitlement", partition=1)
    for number, run in enumerate(RUNS):
        made = made.slice(number + 1, "whole", mode="whole")
        made = made.running(
            1000 + number, slices=(number + 1,), tenant="p2", card_micro=1_000_000, **run
        )
    return made


def holder(run, *, mixed, preemption, kept):
    return Holder(
        priority=Priority(run["priority_class"]),
        work_class=WorkClass(run["purpose"]),
        preemptible=run["preemptible"],
        checkpointed=run["checkpointed"],
        entitled=not run["borrowed"],
        late=run["ends"] < 0,
        lends=preemption,
        swaps=mixed and run["kind"] is WorkloadKind.REPLICA,
        kept=kept,
    )


@pytest.mark.parametrize(
    ("mixed", "preemption"), [(False, True), (True, True), (False, False), (True, False)]
)
def test_nobody_whom_the_planner_may_choose_is_refused(mixed, preemption):
    board, found = build(world(mixed, preemption).made), set()
    cards = frozenset(range(1, len(RUNS) + 1))
    for priority, purpose, kept in WINNERS:
        work = whole(1, priority=priority, purpose=purpose, kept=cards if kept else frozenset())
        for victim in eligible(board, work, ()):
            run = RUNS[victim.running.id - 1000]
            kind = kind_of(
                Eviction(
                    victim=victim.running.id,
                    winner=1,
                    lost_card_s=0.0,
                    hand_back=victim.back,
                    overrun=victim.overrun and not victim.back,
                )
            )
            told = holder(run, mixed=mixed, preemption=preemption, kept=kept)
            trains = WorkClass(purpose) in TRAINING
            why = refusal(told, Priority(priority), kind, trains=trains)
            assert why == "", (run, priority, purpose, kept, kind)
            found.add(kind)
    assert found >= {YieldKind.HAND_BACK, YieldKind.OVERRUN}
    assert (YieldKind.PREEMPT in found) is preemption


def test_training_without_a_checkpoint_is_asked_for_its_time_but_not_for_its_class():
    told = Holder(
        priority=Priority.LOW,
        work_class=WorkClass.TRAINING,
        preemptible=True,
        checkpointed=False,
        entitled=True,
        late=True,
    )
    assert refusal(told, Priority.HIGH, YieldKind.OVERRUN) == ""
    assert refusal(told, Priority.HIGH, YieldKind.PREEMPT) == "no checkpoint of it has been seen"


def test_the_cap_is_a_fifth_rounded_up_once_something_is_interrupted():
    assert not over_cap(ordinary=3, interrupted=0, more=3, share_milli=200)
    assert not over_cap(ordinary=6, interrupted=1, more=1, share_milli=200)
    assert over_cap(ordinary=5, interrupted=1, more=1, share_milli=200)
