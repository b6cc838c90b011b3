"""What must hold of every plan, on random pools."""

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pool.scheduling.board import build
from pool.scheduling.checker import check
from pool.scheduling.model import QuotaKind
from pool.scheduling.plan import plan, plan_board
from tests.pool.scheduling.worlds import worlds

LAW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)


@LAW
@given(worlds())
def test_the_checker_accepts_every_plan(world):
    made = plan(world)
    assert check(world, made) == ()


@LAW
@given(worlds())
def test_every_workload_is_answered_once(world):
    made = plan(world)
    starts = [placed.workload for placed in made.placed]
    assert len(starts) == len(set(starts))
    assert {*starts, *made.waits} == {work.id for work in world.waiting}
    assert not set(starts) & set(made.waits)


@LAW
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_never_matters(world, chance):
    def shuffled(items):
        return tuple(chance.sample(items, len(items)))

    mixed = replace(
        world,
        nodes=shuffled(world.nodes),
        cards=shuffled(world.cards),
        slices=shuffled(world.slices),
        waiting=shuffled(world.waiting),
        running=shuffled(world.running),
        quotas=shuffled(world.quotas),
    )
    assert plan(mixed) == plan(world)


@LAW
@given(worlds(), st.integers(0, 3))
def test_a_larger_quota_never_starts_less_of_a_single_queue(world, more):
    """With one workload waiting, raising a limit can only help it."""
    limits = [row for row in world.quotas if row.kind is QuotaKind.LIMIT]
    for work in world.waiting:
        alone = replace(world, waiting=(work,))
        raised = tuple(
            replace(row, limit=row.limit + more * 1_000_000) if row in limits else row
            for row in world.quotas
        )
        if plan(alone).placed:
            assert plan(replace(alone, quotas=raised)).placed


@LAW
@given(worlds())
def test_what_waits_can_not_be_placed_on_what_is_left(world):
    """Nobody waits for room that is there: alone on the final pool, a blocked one stays blocked."""
    made = plan(world)
    if made.placed or any(told.reason == "behind" for told in made.waits.values()):
        return
    for work in world.waiting:
        assert not plan(replace(world, waiting=(work,))).placed


@LAW
@given(worlds())
def test_a_plan_is_the_same_whether_waits_are_explained_or_not(world):
    told, silent = plan(world), plan_board(build(world), tell=False)
    assert silent.waits == {}
    assert silent == replace(told, waits={})
