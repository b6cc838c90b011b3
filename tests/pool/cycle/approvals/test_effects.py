"""What the plan says with and without a request."""

import pytest

from pool.cycle.approvals.effects import Sought, effects_of
from pool.cycle.waiting import look
from pool.models import Workload
from pool.rules.needs import from_mapping
from pool.services.workloads import workload_submit
from tests import factories as make


@pytest.fixture
def world(db):
    world = make.World()
    make.allowance(world.project, world.partition, 64)
    return world


def sought(world, need, **words):
    asked = {
        "project": world.project,
        "owner": world.member,
        "version": world.finetune,
        "need": from_mapping(need),
        "partitions": [world.partition],
        "seconds": 3600,
    }
    return Sought(**(asked | words))


def test_in_an_empty_pool_all_copies_start_at_once_and_nobody_is_hurt(world):
    found = effects_of(look(), sought(world, {"memory_gb": 20}, copies=3))
    assert (found.starts, found.copies, found.half_s, found.most_s) == (3, 3, 0.0, 0.0)
    assert (found.displaced, found.later, found.why) == ((), (), "")


def test_what_does_not_fit_beside_what_waits_has_a_reason(world):
    found = effects_of(look(), sought(world, {"whole": True}, copies=12))
    assert found.starts == 8
    assert found.why


def test_nothing_is_written(world):
    workload_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        command=["true"],
        actor=make.by(world.member),
    )
    before = list(Workload.objects.values_list("state", "waits"))
    effects_of(look(), sought(world, {"whole": True}, copies=8))
    assert list(Workload.objects.values_list("state", "waits")) == before
