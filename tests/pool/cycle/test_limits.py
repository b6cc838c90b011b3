"""Limits the planner does not count, allowances of one kind of card, what a round reads."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from nodeagent.protocol.vocabulary import Mode
from pool.clock import now
from pool.cycle.commit import _moved
from pool.cycle.snapshot import take
from pool.errors import QuotaExceeded
from pool.events import SYSTEM
from pool.scheduling.model import HostPart, NewSlice, Part, Placed
from pool.services.placements import placement_open
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def node():
    rows.partition()
    return rows.node()


def test_work_at_a_limit_that_the_planner_does_not_count_lets_nobody_leave(node):
    row = rows.workload()
    given = {"project": row.project, "partition": row.partitions.get()}
    limit = rows.quota(limit=1, unit="workloads", **given)
    assert [one.over for one in take(now()).waiting] == [False]
    limit.limit_value = 0
    limit.save()
    assert [one.over for one in take(now()).waiting] == [True]


def test_a_round_reads_nothing_of_what_the_work_is_made_of(node):
    rows.workload(command=["true"], files={"a": "b"})
    with CaptureQueriesContext(
        connection,
    ) as seen:
        take(now())
    assert not any('"files"' in one["sql"] or '"command"' in one["sql"] for one in seen)


def test_an_allowance_of_one_kind_of_card_starts_nothing_on_another(node):
    row = rows.workload(entitlement="allowance", need={"parts": 1, "whole": True})
    given = {"project": row.project, "partition": row.partitions.get(), "kind": "allowance"}
    rows.quota(limit=8_000_000, label="H100-80GB", **given)
    snapshot = take(now())
    card = snapshot.cards[0]
    new = NewSlice(
        mode=Mode.WHOLE,
        profile="whole",
        memory_mib=card.memory_mib,
        compute_milli=1000,
        card_micro=1_000_000,
        start=0,
        size=8,
    )
    placed = Placed(
        workload=row.pk,
        partition=row.partitions.get().pk,
        parts=(Part(card=card.id, card_micro=1_000_000, new=new),),
        hosts=(HostPart(node=card.node, cpu_milli=0, memory_mib=0, disk_mib=0),),
        card_micro=1_000_000,
    )
    with pytest.raises(QuotaExceeded):
        placement_open(workload_id=row.pk, placed=placed, actor=SYSTEM)
    assert [one.only for one in snapshot.quotas] == [True]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [(1, 2, True), (10, 9, True), (10, 10, False), (100, 99, False), (100, 90, True), (0, 5, True)],
)
def test_a_place_far_behind_is_told_anew_only_when_it_moved_by_a_tenth(before, after, told):
    assert _moved(before, after) == told
