"""Dry runs: the same queue under other rules, with who gains and who loses."""

from dataclasses import replace

from pool.scheduling.model import Policy
from pool.scheduling.outlook.whatif import dry_run
from tests.builders import NOW, snapshot, whole


def _world():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",)).busy(1, ends=600)
    return world.queue(
        whole(1, 2, declared_s=400.0), whole(2, declared_s=500.0), whole(3, declared_s=5000.0)
    ).made


def test_without_slipping_in_the_short_one_loses_and_nobody_is_changed_by_the_same_rules():
    world = _world()
    rules = replace(world.rules, backfill=False)
    moved = {m.workload: m for m in dry_run(world, rules=rules)}
    assert moved[2].before_s == NOW and moved[2].after_s > NOW
    assert moved[2].sooner_s < 0
    assert all(m.sooner_s == 0 for m in dry_run(world, rules=world.rules))


def test_every_waiting_workload_is_answered_and_the_snapshot_stays_as_it_is():
    world = _world()
    moved = dry_run(world, policies={1: Policy.SPREAD})
    assert [m.workload for m in moved] == [1, 2, 3]
    assert world == _world()
