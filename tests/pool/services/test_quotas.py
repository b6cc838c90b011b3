"""Quota rows: set, cut, counted from the start, never passed at any of three levels."""

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pool.cycle.round import run_rounds
from pool.errors import Invalid, QuotaExceeded
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models import Event, Placement, Quota
from pool.services.levels import level_give_back, level_rows, level_take
from pool.services.quotas import quota_set
from pool.services.requests import request_submit, request_withdraw
from pool.services.workloads import workload_submit
from tests import factories as make

CARDS = QuotaUnit.CARDS_MICRO
LABEL = "A100-80GB"


def set_limit(world, limit, tenant=None, **words):
    given_ = {"tenant": tenant or world.project, "partition": world.partition, "unit": CARDS}
    given_ |= {"card_model": LABEL, "actor": make.by(world.platform)}
    return quota_set(limit=limit, **(given_ | words))


@pytest.mark.handmade_books
def test_a_smaller_limit_keeps_what_is_held_and_comes_down_with_each_release(world):
    row = set_limit(world, 5)
    Quota.objects.update(held=5)
    row = set_limit(world, 3)
    assert (row.limit_value, row.held, row.ceiling) == (3, 5, 5)
    assert Event.objects.last().data["over_by"] == 2
    rows = level_rows_of(world)
    with pytest.raises(QuotaExceeded), transaction.atomic():
        level_take(rows=rows, asked={(LABEL, CARDS): 1})
    level_give_back(taken=[{"quota": row.pk, "amount": 1}])
    row.refresh_from_db()
    assert (row.held, row.ceiling) == (4, 4)
    level_give_back(taken=[{"quota": row.pk, "amount": 4}])
    row.refresh_from_db()
    assert (row.held, row.ceiling) == (0, 3)


def level_rows_of(world):
    return level_rows(
        organization_id=world.organization.pk,
        project_id=world.project.pk,
        owner_id=world.member.pk,
        partition_id=world.partition.pk,
        kinds=[QuotaKind.LIMIT],
    )


def test_the_same_limit_again_changes_nothing(world):
    set_limit(world, 5)
    events = Event.objects.count()
    set_limit(world, 5)
    assert (Event.objects.count(), Quota.objects.count()) == (events, 1)


def test_who_changed_what_from_what_to_what_is_told(world):
    set_limit(world, 5)
    set_limit(world, 7, reason="a new team member")
    data = Event.objects.last().data
    assert (data["before"], data["after"], data["reason"]) == (5, 7, "a new team member")
    assert Event.objects.last().project_id == world.project.pk


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"unit": "gold"}, "unit"),
        ({"kind": "wish"}, "kind"),
        ({"limit": -1}, "limit"),
        ({"limit": 2**60}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"limit": True}, "limit"),
        ({"unit": "cpu_milli"}, "card_model"),
        ({"card_model": "x" * 81}, "card_model"),
    ],
)
def test_wrong_quotas_are_refused_by_field(world, words, field):
    with pytest.raises(Invalid) as refused:
        set_limit(world, **({"limit": 5} | words))
    assert list(refused.value.detail) == [field]
    assert not Quota.objects.exists()


def test_allowances_are_projects_and_members_are_inside_projects(world):
    with pytest.raises(Invalid, match="An allowance is a project's"):
        set_limit(world, 5, tenant=world.organization, kind=QuotaKind.ALLOWANCE)
    with pytest.raises(Invalid, match="within a project"):
        set_limit(world, 5, tenant=world.organization, user=world.member)


def test_a_new_entitlement_row_counts_what_is_pending_and_gets_it_back(world):
    request = request_submit(
        user=world.member,
        project=world.project,
        template_version=world.whole,
        actor=make.by(world.member),
        weights=make.FREE,
        copies=2,
    )
    row = set_limit(world, 3_000_000, kind=QuotaKind.ENTITLEMENT)
    assert row.held == 2_000_000
    request_withdraw(request=request, user=world.member, actor=make.by(world.member))
    row.refresh_from_db()
    assert row.held == 0


def test_rows_made_while_work_runs_count_it_and_nothing_else(world):
    make.allowance(world.project, world.partition, 2)
    workload_submit(
        user=world.member,
        project=world.project,
        template_version=world.whole,
        command=["true"],
        actor=make.by(world.member),
        weights=make.FREE,
    )
    run_rounds()
    assert Placement.objects.filter(state="open").count() == 1
    host = {"unit": QuotaUnit.CPU_MILLI, "card_model": ""}
    rows = [
        set_limit(world, 5_000_000, tenant=world.organization),
        set_limit(world, 0, user=world.member),
        set_limit(world, 5_000_000, user=world.lead),
        set_limit(world, 64_000, **host),
        set_limit(world, 64_000, kind=QuotaKind.ALLOWANCE, **host),
        set_limit(world, 9, unit=QuotaUnit.WORKLOADS, card_model=""),
    ]
    assert [row.held for row in rows] == [1_000_000, 1_000_000, 0, 16_000, 0, 1]
    assert rows[1].ceiling == 1_000_000


limits = st.integers(0, 6)
steps = st.lists(st.integers(-3, 4), max_size=12)


@pytest.mark.handmade_books
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(organization=limits, project=limits, member=limits, moves=steps)
def test_no_level_is_ever_passed_and_all_levels_hold_the_same(
    world, organization, project, member, moves
):
    with transaction.atomic():
        rows = [
            set_limit(world, organization, tenant=world.organization),
            set_limit(world, project),
            set_limit(world, member, user=world.member),
        ]
        open_ones = []
        for step in moves:
            if step > 0:
                open_ones += _taken(world, step)
            elif open_ones:
                level_give_back(taken=open_ones.pop(step % len(open_ones)))
            held = set(Quota.objects.values_list("held", flat=True))
            expected = sum(taken[0]["amount"] for taken in open_ones)
            assert held == {expected}
            assert expected <= min(organization, project, member)
        assert len(rows) == 3
        transaction.set_rollback(True)


def _taken(world, amount):
    """One more take when every level admits it; nothing when one refuses."""
    rows = level_rows_of(world)
    admits = all(row.held + amount <= row.limit_value for row in rows)
    try:
        with transaction.atomic():
            taken = level_take(rows=rows, asked={(LABEL, CARDS): amount})
    except QuotaExceeded:
        assert not admits
        return []
    assert admits
    return [taken]
