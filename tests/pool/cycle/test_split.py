"""A mixed card divided 70 to 30 between training and inference, through rounds and notices."""

import pytest

from pool.clock import now
from pool.cycle.round import run_rounds
from pool.models import Attempt, Workload, YieldOrder
from tests import rows
from tests.pool.obedient import Obedient
from tests.pool.place import seen

pytestmark = pytest.mark.django_db

SPLIT = {
    "card_split": [
        {"purposes": ["pretraining", "training"], "compute_milli": 700, "memory_milli": 1000},
        {"purposes": ["inference"], "compute_milli": 300, "memory_milli": 1000},
    ]
}
"""As docs/rules.md shows it."""

TRAINING = {"memory_gb": 20, "compute_milli": 700, "modes": ["mps"]}
SERVING = {"memory_gb": 10, "compute_milli": 150, "modes": ["mps"]}


class Mixed:
    """One card of 48 GB in a partition with the split, and a project that trains and serves."""

    def __init__(self):
        rows.partition(ceilings=SPLIT, modes=["mps"])
        self.node = Obedient(rows.node(label="L40S"))
        self.into = rows.project()
        self.trains = rows.template(need=TRAINING, work_class="training")
        self.serves = rows.template(need=SERVING, work_class="inference", kind="replica")

    def replica(self, **need):
        need = {**SERVING, **need}
        return rows.workload(into=self.into, version=self.serves, need=need, kind="replica")

    def training(self, **need):
        """Training that ran before and has shown a checkpoint: without one it shares no card."""
        work = rows.workload(into=self.into, version=self.trains, need={**TRAINING, **need})
        Attempt.objects.create(
            workload=work,
            number=1,
            node=self.node.row,
            state="ended",
            checkpoint_step=7,
            checkpoint_at=now(),
        )
        Workload.objects.filter(pk=work.pk).update(attempts_made=1)
        return seen(work)

    def go(self):
        run_rounds()
        self.node.turn()


@pytest.fixture
def mixed():
    return Mixed()


def test_each_side_has_its_part_of_the_card_and_no_more(mixed):
    serves, trains = mixed.replica(), mixed.training(compute_milli=650)
    wide = mixed.replica(compute_milli=200, memory_gb=1)
    more = mixed.training(compute_milli=100, memory_gb=1)
    mixed.go()
    assert [seen(one).state for one in (serves, trains)] == ["running"] * 2
    for waits in (wide, more):
        assert (seen(waits).state, waits.waits["reason"]) == ("queued", "ceiling")


def test_training_without_a_checkpoint_does_not_share_the_card(mixed):
    fresh = rows.workload(into=mixed.into, version=mixed.trains)
    mixed.go()
    assert (seen(fresh).state, fresh.waits["reason"]) == ("queued", "unproven")


def test_training_takes_back_the_memory_that_inference_holds_of_its_part(mixed):
    wide = mixed.replica(memory_gb=40, compute_milli=300)
    mixed.go()
    assert seen(wide).state == "running"
    trains = mixed.training()
    mixed.go()
    order = YieldOrder.objects.get(workload=wide)
    assert (seen(wide).state, order.winner) == ("preempting", trains)
    assert (order.deadline - order.ordered_at).total_seconds() == pytest.approx(300, abs=0.1)
    assert Attempt.objects.get(workload=wide).draining
    mixed.node.pull()
    mixed.node.finish(wide, code=-15, reason=None)
    mixed.node.tell()
    for _ in range(3):
        mixed.go()
    assert (seen(trains).state, seen(wide).state) == ("running", "queued")


def test_inference_never_takes_back_from_training(mixed):
    trains = mixed.training(memory_gb=40)
    mixed.go()
    waits = mixed.replica(memory_gb=20)
    mixed.go()
    assert (seen(trains).state, seen(waits).state) == ("running", "queued")
    assert not YieldOrder.objects.exists()
