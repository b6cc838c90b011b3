"""What must hold of every plan, on random pools."""

from dataclasses import fields, replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pool.scheduling.board import build
from pool.scheduling.checker import check
from pool.scheduling.explain import counted
from pool.scheduling.fit import grants_for, host_only_sieve, sieve
from pool.scheduling.model import Quota, QuotaKind, Unit
from pool.scheduling.order import ranked
from pool.scheduling.plan import plan, plan_board
from tests.pool.scheduling.dense import dense_worlds
from tests.pool.scheduling.furnished import furnished
from tests.pool.scheduling.worlds import worlds

ANY = st.one_of(worlds(), dense_worlds(most=3))
"""Pools with much room and pools with hardly any."""

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
@given(furnished(ANY), st.randoms(use_true_random=False))
def test_the_order_of_the_input_never_matters(world, chance):
    """Whatever a snapshot holds several of may come in any order."""
    several = [f.name for f in fields(world) if isinstance(getattr(world, f.name), tuple)]
    rows = {name: getattr(world, name) for name in several}
    mixed = {name: tuple(chance.sample(found, len(found))) for name, found in rows.items()}
    assert plan(replace(world, **mixed)) == plan(world)


@LAW
@given(furnished(ANY))
def test_what_the_filters_removed_and_what_passed_them_are_all_candidates(world):
    """Counts are exact: filter by filter what each removed, to where the last ones fell."""
    board = build(world)
    for work in world.waiting:
        for count in counted(board, work):
            passed = count.candidates - sum(lost for _, lost in count.removed)
            assert passed == _passing(board, work, count).sum()
            assert (passed == 0) is (count.fell_at is not None) or count.candidates == 0
            if count.fell_at is not None and count.candidates:
                assert count.removed[-1][0] is count.fell_at and count.removed[-1][1] > 0


def _passing(board, work, count):
    """What passes every filter at once, however they are ordered."""
    if count.mode is None:
        sieved = host_only_sieve(board, work, count.partition)
    else:
        rows = board.rows[count.partition]
        grants = grants_for(board, work, count.partition, count.mode)
        sieved = sieve(board, work, count.partition, count.mode, grants, rows)
    return np.logical_and.reduce([flags for _, flags in sieved])


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
@given(ANY, st.integers(0, 3))
def test_a_larger_quota_never_takes_a_start_from_the_first_in_rank(world, more):
    if not world.waiting:
        return
    first = ranked(build(world))[0][0].id
    raised = tuple(
        replace(row, limit=row.limit + more * 1_000_000) if row.kind is QuotaKind.LIMIT else row
        for row in world.quotas
    )
    if first in {placed.workload for placed in plan(world).placed}:
        assert first in {placed.workload for placed in plan(replace(world, quotas=raised)).placed}


@LAW
@given(ANY, st.sampled_from(["o1", "p1", "p2"]), st.sampled_from(Unit))
def test_a_quota_that_is_used_up_starts_nothing_that_counts_in_it(world, tenant, unit):
    row = Quota(id=99, tenant=tenant, kind=QuotaKind.LIMIT, unit=unit, limit=5, held=5)
    made = plan(replace(world, quotas=(*world.quotas, row)))
    needs = {work.id: work.need for work in world.waiting if tenant in work.tenants}
    for placed in made.placed:
        if placed.workload in needs:
            need = needs[placed.workload]
            asked = {
                Unit.CARD_MICRO: placed.card_micro,
                Unit.CPU_MILLI: need.cpu_milli,
                Unit.MEMORY_MIB: need.host_memory_mib,
                Unit.DISK_MIB: need.disk_mib,
            }
            assert asked[unit] == 0


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
