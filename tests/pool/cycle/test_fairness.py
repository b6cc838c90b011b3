"""Use is worked out from the holds with a half-life, and who used less goes first."""

from datetime import timedelta

import pytest
from psycopg.types.range import Range
from pytest import approx

from pool.clock import now
from pool.cycle.fairness import HALF_LIFE_S, fairness_count
from pool.cycle.housekeep import housekeep
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.models import FairUse, Hold, Partition, Placement
from pool.scheduling.model import Quota, QuotaKind, Unit
from pool.scheduling.order import share_weights
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db

WHOLE = {"parts": 1, "whole": True}
HALF_LIFE = timedelta(seconds=HALF_LIFE_S)


@pytest.fixture
def pool():
    rows.partition()
    return Obedient(rows.node())


def held(pool, into, *, ago, lasting):
    """A whole card was held by the project, from so long ago."""
    work = rows.workload(into=into, need=WHOLE)
    run_rounds()
    pool.turn()
    pool.finish(work)
    pool.tell()
    start = now() - ago
    mine = Hold.objects.filter(placement__attempt__workload=work)
    mine.update(held=Range(start, start + lasting))
    Placement.objects.filter(attempt__workload=work).update(
        opened_at=start, closed_at=start + lasting
    )


def used(tenant):
    tenant.refresh_from_db()
    return tenant.fair_use.card_seconds


def test_what_was_held_a_week_ago_counts_half(pool):
    fresh, old = rows.project(), rows.project()
    minute = timedelta(minutes=1)
    held(pool, fresh, ago=minute, lasting=minute)
    held(pool, old, ago=HALF_LIFE + minute, lasting=minute)
    assert fairness_count() == 2
    assert used(fresh) == approx(60, rel=0.001)
    assert used(old) == approx(30, rel=0.001)


def test_a_long_hold_counts_each_second_by_its_own_age(pool):
    into = rows.project()
    held(pool, into, ago=HALF_LIFE, lasting=HALF_LIFE)
    fairness_count()
    mean = 0.5 / 0.693147
    assert used(into) == approx(HALF_LIFE_S * mean, rel=0.001)


def test_what_is_still_held_counts_up_to_now(pool):
    work = rows.workload(need=WHOLE)
    run_rounds()
    Hold.objects.update(held=Range(now() - timedelta(hours=1), None))
    fairness_count()
    assert used(work.project) == approx(3600, rel=0.01)


def test_an_organization_has_used_what_its_projects_have(pool):
    first = rows.project()
    second = rows.project(organization=first.organization)
    for one, ago in ((first, 4), (second, 2)):
        held(pool, one, ago=timedelta(minutes=ago), lasting=timedelta(minutes=1))
    fairness_count()
    assert used(first.organization) == approx(used(first) + used(second))


def test_counting_again_changes_nothing_and_what_is_long_gone_is_forgotten(pool):
    into = rows.project()
    held(pool, into, ago=timedelta(days=60), lasting=timedelta(minutes=1))
    held(pool, rows.project(), ago=timedelta(days=1), lasting=timedelta(minutes=1))
    assert [housekeep().shares, housekeep().shares] == [1, 1]
    assert not FairUse.objects.filter(project=into).exists()


def test_who_has_used_less_goes_first_though_it_came_later(pool):
    greedy, modest = rows.project(), rows.project()
    held(pool, greedy, ago=timedelta(hours=2), lasting=timedelta(hours=2))
    first = rows.workload(into=greedy, need=WHOLE)
    later = rows.workload(into=modest, need=WHOLE)
    fairness_count()
    run_rounds()
    first.refresh_from_db()
    later.refresh_from_db()
    assert (first.state, later.state) == ("queued", "placed")


def test_inside_one_organization_the_project_that_used_less_goes_first(pool):
    greedy = rows.project()
    modest = rows.project(organization=greedy.organization)
    held(pool, greedy, ago=timedelta(hours=2), lasting=timedelta(hours=2))
    first = rows.workload(into=greedy, need=WHOLE)
    later = rows.workload(into=modest, need=WHOLE)
    fairness_count()
    run_rounds()
    first.refresh_from_db()
    later.refresh_from_db()
    assert (first.state, later.state) == ("queued", "placed")


def guaranteed(into, cards):
    part = Partition.objects.get()
    rows.quota(
        limit=cards * 1_000_000, kind="entitlement", label="A100-80GB", project=into, partition=part
    )


def test_use_weighs_less_the_more_cards_a_tenant_is_guaranteed(pool):
    small = rows.project()
    large = rows.project(organization=small.organization)
    held(pool, small, ago=timedelta(hours=5), lasting=timedelta(hours=1))
    held(pool, large, ago=timedelta(hours=2), lasting=timedelta(hours=2))
    first = rows.workload(into=small, need=WHOLE)
    later = rows.workload(into=large, need=WHOLE)
    guaranteed(small, 1)
    guaranteed(large, 4)
    fairness_count()
    weights = {one.tenant: one.weight for one in take(now()).shares}
    assert weights[f"project:{large.pk}"] == 4.0
    assert weights[f"org:{large.organization_id}"] == 5.0, "its projects' are its own"
    run_rounds()
    first.refresh_from_db()
    later.refresh_from_db()
    assert (first.state, later.state) == ("queued", "placed")
    assert later.queued_at > first.queued_at


def test_guarantees_add_up_over_partitions_and_count_the_same_cards_once():
    def row(limit, partition, label=None, kind=QuotaKind.ENTITLEMENT, unit=Unit.CARD_MICRO):
        told = {"id": 1, "tenant": "project:1", "held": 0, "partition": partition, "label": label}
        return Quota(kind=kind, unit=unit, limit=limit, **told)

    whole = row(3_000_000, 1)
    parts = [row(2_000_000, 1, "A30"), row(2_000_000, 1, "L40S"), row(500_000, 2)]
    others = [row(9, 1, kind=QuotaKind.LIMIT), row(9_000_000, 1, unit=Unit.CPU_MILLI)]
    assert share_weights([whole, *parts, *others]) == {"project:1": 4.5}
    assert share_weights([row(300_000, 1)]) == {"project:1": 1.0}


def test_a_tenant_weighs_as_much_as_the_tenants_in_it_where_their_guarantees_are_more():
    def row(tenant, cards, *within, partition=1):
        what = {"kind": QuotaKind.ENTITLEMENT, "unit": Unit.CARD_MICRO}
        told = {"id": 1, "held": 0, "partition": partition, "within": within}
        return Quota(tenant=tenant, limit=round(cards * 1_000_000), **what, **told)

    rows = [
        row("project:1", 3, "org:1"),
        row("project:2", 5, "org:1"),
        row("member:2.7", 6, "project:2", "org:1"),
        row("project:2", 2, "org:1", partition=2),
        row("org:1", 4),
        row("org:1", 3, partition=2),
        row("org:2", 9),
        row("project:3", 4, "org:2"),
    ]
    told = {"project:1": 3.0, "member:2.7": 6.0, "project:2": 8.0, "project:3": 4.0}
    assert share_weights(rows) == {**told, "org:1": 12.0, "org:2": 9.0}
    assert share_weights(reversed(rows)) == share_weights(rows)


def test_an_organization_of_which_only_the_projects_are_guaranteed_cards_ranks_by_them(pool):
    """Organizations often have limits alone: then what their projects have counts for them."""
    small, large = rows.project(), rows.project()
    other = rows.project(organization=large.organization)
    held(pool, small, ago=timedelta(hours=5), lasting=timedelta(hours=1))
    held(pool, large, ago=timedelta(hours=2), lasting=timedelta(hours=2))
    first = rows.workload(into=small, need=WHOLE)
    later = rows.workload(into=large, need=WHOLE)
    guaranteed(small, 1)
    guaranteed(large, 2)
    guaranteed(other, 3)
    fairness_count()
    weights = {one.tenant: one.weight for one in take(now()).shares}
    assert weights[f"org:{large.organization_id}"] == 5.0
    assert weights[f"org:{small.organization_id}"] == 1.0
    run_rounds()
    first.refresh_from_db()
    later.refresh_from_db()
    assert (first.state, later.state) == ("queued", "placed")


def test_the_shares_of_the_queue_come_without_another_query(pool, django_assert_num_queries):
    for _ in range(3):
        rows.workload()
    fairness_count()
    with django_assert_num_queries(12):
        snapshot = take(now())
    assert len(snapshot.shares) == 6
