"""The one door of every state, and the levels of quota rows."""

from datetime import timedelta

import pytest
from django.db import transaction

from pool.errors import IllegalMove, QuotaExceeded, Stale
from pool.events import SYSTEM
from pool.models import Card, Event, Quota, Workload
from pool.services.levels import (
    level_counts,
    level_give_back,
    level_rows,
    level_take,
    level_tenant,
)
from pool.services.moves import move
from tests import rows

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]
MICRO = ("A100-80GB", "cards_micro")


@pytest.fixture
def part():
    row = rows.partition()
    rows.node()
    return row


def test_a_move_writes_state_since_before_deadline_and_its_event(part):
    work = rows.workload()
    number = move(work, "placed", actor=SYSTEM, reason="room", told={"node": "nd-1"})
    seen = Workload.objects.get(pk=work.pk)
    assert (seen.state, seen.state_before) == ("placed", "queued")
    assert seen.deadline - seen.state_since == timedelta(seconds=30)
    told = Event.objects.get(pk=number)
    assert (told.kind, told.project_id) == ("workload.moved", work.project_id)
    assert told.data == {"from": "queued", "to": "placed", "reason": "room", "node": "nd-1"}
    move(work, "starting", actor=SYSTEM)
    assert work.deadline - work.state_since == timedelta(
        seconds=work.template_version.start_limit_seconds
    )
    move(work, "running", actor=SYSTEM)
    assert work.deadline is None


def test_a_move_that_the_table_does_not_know_writes_nothing(part):
    work = rows.workload()
    with pytest.raises(IllegalMove) as why:
        move(work, "succeeded", actor=SYSTEM)
    assert why.value.detail == {"noun": "workload", "state": "queued", "then": "succeeded"}
    assert Workload.objects.get(pk=work.pk).state == "queued"
    assert not Event.objects.filter(kind="workload.moved").exists()


def test_a_move_of_what_moved_meanwhile_is_stale(part):
    work = rows.workload()
    other = Workload.objects.get(pk=work.pk)
    move(work, "on_hold", actor=SYSTEM)
    with pytest.raises(Stale):
        move(other, "placed", actor=SYSTEM)
    assert Event.objects.filter(kind="workload.moved").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_move_outside_a_transaction_is_a_mistake_of_the_caller(part):
    with pytest.raises(transaction.TransactionManagementError):
        move(Card.objects.get(), "contested", actor=SYSTEM)


def take(into, owner, part, amount, kinds=("limit",)):
    found = level_rows(
        organization_id=into.organization_id,
        project_id=into.pk,
        owner_id=owner.pk,
        partition_id=part.pk,
        kinds=kinds,
    )
    return level_take(rows=found, asked={MICRO: amount})


def test_levels_are_locked_from_the_outermost_and_taken_at_each(part):
    into = rows.project()
    owner, stranger = rows.member(into), rows.member(into)
    words = {"limit": 10, "label": "A100-80GB", "partition": part}
    mine = rows.quota(project=into, user=owner, **words)
    rows.quota(project=into, user=stranger, **words)
    project = rows.quota(project=into, **words)
    home = rows.quota(organization=into.organization, **words)
    rows.quota(organization=rows.organization(), **words)
    taken = take(into, owner, part, 4)
    assert [one["quota"] for one in taken] == [home.pk, project.pk, mine.pk]
    assert sorted(Quota.objects.values_list("held", flat=True)) == [0, 0, 4, 4, 4]
    level_give_back(taken=taken)
    assert set(Quota.objects.values_list("held", flat=True)) == {0}


def test_one_level_that_is_full_refuses_all_and_takes_nothing(part):
    into = rows.project()
    owner = rows.member(into)
    rows.quota(limit=10, label="A100-80GB", partition=part, organization=into.organization)
    rows.quota(limit=3, label="A100-80GB", partition=part, project=into)
    with pytest.raises(QuotaExceeded) as why:
        take(into, owner, part, 4)
    assert why.value.detail["tenant"] == f"project:{into.pk}"
    assert (why.value.detail["limit"], why.value.detail["asked"]) == (3, 4)
    assert set(Quota.objects.values_list("held", flat=True)) == {0}


def test_a_limit_cut_below_what_is_held_lets_nothing_start_and_comes_down_with_releases(part):
    into = rows.project()
    owner = rows.member(into)
    row = rows.quota(limit=8, label="A100-80GB", partition=part, project=into)
    first, second = take(into, owner, part, 3), take(into, owner, part, 3)
    Quota.objects.filter(pk=row.pk).update(limit_value=4, ceiling=6)
    with pytest.raises(QuotaExceeded):
        take(into, owner, part, 1)
    level_give_back(taken=first)
    row.refresh_from_db()
    assert (row.held, row.ceiling) == (3, 4)
    take(into, owner, part, 1)
    level_give_back(taken=second)
    row.refresh_from_db()
    assert (row.held, row.ceiling) == (1, 4)


def test_every_tenant_has_a_key_and_allowances_count_their_own_kind_of_work(part):
    into = rows.project()
    owner = rows.member(into)
    home = rows.quota(limit=1, partition=part, organization=into.organization)
    project = rows.quota(limit=1, partition=part, project=into)
    mine = rows.quota(limit=1, partition=part, project=into, user=owner)
    assert [level_tenant(row) for row in (home, project, mine)] == [
        f"org:{into.organization_id}",
        f"project:{into.pk}",
        f"member:{into.pk}.{owner.pk}",
    ]
    cards = rows.quota(limit=1, kind="allowance", partition=part, project=into)
    cores = rows.quota(limit=1, kind="allowance", unit="cpu_milli", partition=part, project=into)
    assert [level_counts(cards, cards=it) for it in (True, False)] == [True, False]
    assert [level_counts(cores, cards=it) for it in (True, False)] == [False, True]
    assert level_counts(project, cards=False)
