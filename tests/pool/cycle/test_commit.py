"""A decision that is no longer true is refused whole; what waits says why."""

from dataclasses import replace
from datetime import timedelta

import pytest
from psycopg.types.range import Range

from nodeagent.protocol.vocabulary import Mode
from pool.clock import now
from pool.cycle.commit import commit
from pool.cycle.snapshot import take
from pool.cycle.waiting import waiting_explain
from pool.errors import QuotaExceeded, Stale
from pool.events import SYSTEM
from pool.models import (
    Card,
    Event,
    Hold,
    Lease,
    Node,
    Placement,
    Promise,
    Quota,
    Request,
    Slice,
    Workload,
)
from pool.scheduling.model import CarveMove, HostPart, Plan
from pool.scheduling.plan import plan
from pool.services.moves import move
from pool.services.nodes import node_cordon
from pool.services.placements import placement_open
from pool.services.workloads import workload_stop
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def node():
    rows.partition()
    return rows.node()


def planned():
    return plan(take(now()))


def refused(placed, error=Stale):
    """The start is refused and nothing was written."""
    before = (
        Slice.objects.count(),
        Event.objects.count(),
        Quota.objects.filter(held__gt=0).count(),
    )
    with pytest.raises(error):
        placement_open(workload_id=placed.workload, placed=placed, actor=SYSTEM)
    assert not Placement.objects.filter(attempt__workload=placed.workload).exists()
    after = (Slice.objects.count(), Event.objects.count(), Quota.objects.filter(held__gt=0).count())
    assert before == after


def test_work_that_was_cancelled_meanwhile_is_not_started(node):
    work = rows.workload()
    (placed,) = planned().placed
    workload_stop(workload=work, actor=SYSTEM)
    refused(placed)


def test_a_node_that_was_cordoned_meanwhile_gets_nothing(node):
    rows.workload()
    (placed,) = planned().placed
    node_cordon(node=node, actor=SYSTEM, reason="test")
    refused(placed)


def test_a_card_that_fell_ill_meanwhile_gets_nothing(node):
    rows.workload()
    (placed,) = planned().placed
    move(Card.objects.get(), "contested", actor=SYSTEM)
    refused(placed)


def test_a_place_that_was_taken_meanwhile_is_not_given_twice(node):
    rows.workload()
    (placed,) = planned().placed
    rows.workload()
    twin = next(one for one in planned().placed if one.workload != placed.workload)
    assert placement_open(workload_id=placed.workload, placed=placed, actor=SYSTEM)
    refused(replace(twin, parts=placed.parts))


def test_a_project_that_was_suspended_meanwhile_starts_nothing(node):
    work = rows.workload()
    (placed,) = planned().placed
    type(work.project).objects.filter(pk=work.project_id).update(suspended=True)
    refused(placed)


def test_a_limit_that_was_cut_meanwhile_binds(node):
    work = rows.workload()
    (placed,) = planned().placed
    part = work.partitions.get()
    rows.quota(limit=placed.card_micro - 1, label="A100-80GB", project=work.project, partition=part)
    refused(placed, QuotaExceeded)


@pytest.mark.parametrize(
    ("unit", "label"),
    [
        ("memory_mib", "A100-80GB"),
        ("compute_milli", "A100-80GB"),
        ("cards_micro", ""),
        ("cpu_milli", ""),
        ("ram_mib", ""),
        ("workloads", ""),
    ],
)
def test_every_unit_of_every_level_gates_the_start(node, unit, label):
    work = rows.workload()
    (placed,) = planned().placed
    part = work.partitions.get()
    for tenant in (
        {"organization": work.project.organization},
        {"project": work.project},
        {"project": work.project, "user": work.owner},
    ):
        row = rows.quota(limit=0, unit=unit, label=label, partition=part, **tenant)
        refused(placed, QuotaExceeded)
        row.delete()
    assert placement_open(workload_id=placed.workload, placed=placed, actor=SYSTEM)


def test_what_was_taken_is_the_same_at_every_level(node):
    work = rows.workload(entitlement="allowance")
    part = work.partitions.get()
    tenants = (
        {"organization": work.project.organization},
        {"project": work.project},
        {"project": work.project, "user": work.owner},
        {"project": work.project, "kind": "allowance"},
    )
    for one in tenants:
        rows.quota(limit=1_000_000, label="A100-80GB", partition=part, **one)
    assert commit(planned()).opened == 1
    micro = Hold.objects.get(slice__isnull=False).equivalents_micro
    assert set(Quota.objects.values_list("held", flat=True)) == {micro}


def test_the_allowance_gates_how_many_run_at_once(node):
    into = rows.project()
    part = Card.objects.get().partition
    rows.quota(limit=250_000, label="A100-80GB", kind="allowance", project=into, partition=part)
    for _ in range(3):
        rows.workload(into=into, entitlement="allowance")
    made = planned()
    assert len(made.placed) == 1
    assert {str(one.reason) for one in made.waits.values()} == {"quota"}
    assert commit(made).opened == 1


def test_cores_allowed_to_work_without_cards_do_not_bind_work_with_cards(node):
    into = rows.project()
    part = Card.objects.get().partition
    words = {"kind": "allowance", "project": into, "partition": part}
    rows.quota(limit=1_000_000, label="A100-80GB", **words)
    cores = rows.quota(limit=500, unit="cpu_milli", **words)
    with_card = rows.workload(into=into, entitlement="allowance")
    without = rows.workload(
        into=into, entitlement="allowance", need={"parts": 0, "cpu_milli": 1000}
    )
    made = planned()
    assert [one.workload for one in made.placed] == [with_card.pk]
    assert str(made.waits[without.pk].reason) == "quota"
    commit(made)
    Quota.objects.filter(pk=cores.pk).update(limit_value=1000, ceiling=1000)
    assert commit(planned()).opened == 1
    cores.refresh_from_db()
    assert cores.held == 1000


def test_a_host_share_that_no_longer_fits_is_refused(node):
    rows.workload()
    (placed,) = planned().placed
    host = HostPart(node=node.pk, cpu_milli=64_001, memory_mib=1, disk_mib=0)
    refused(replace(placed, hosts=(host,)))


def test_soft_shares_never_add_up_to_more_than_the_card(node):
    soft = {"parts": 1, "memory_gb": 40, "compute_milli": 500, "modes": ["mps"]}
    into = rows.project()
    for _ in range(2):
        rows.workload(into=into, need=soft)
    made = planned()
    assert commit(made).opened == 2
    rows.workload(into=into, need=soft)
    third = Workload.objects.get(state="queued")
    refused(replace(made.placed[0], workload=third.pk))


def test_two_trust_groups_never_share_a_card_softly_whatever_the_plan_says(node):
    soft = {"parts": 1, "memory_gb": 20, "compute_milli": 200, "modes": ["mps"]}
    rows.workload(need=soft)
    made = planned()
    assert commit(made).opened == 1
    stranger = rows.workload(need=soft)
    refused(replace(made.placed[0], workload=stranger.pk))


def test_a_held_slice_is_never_removed(node):
    rows.workload()
    commit(planned())
    Slice.objects.update(state="creating")
    Slice.objects.update(state="ready")
    small = Slice.objects.get()
    big = rows.workload(need={"parts": 1, "whole": True})
    free = rows.node()
    whole = next(one for one in planned().placed if one.workload == big.pk)
    move_ = replace_moves(whole, card=small.card_id, removes=(small.pk,), node=node)
    refused(move_)
    assert free.pk in {host.node for host in whole.hosts}


def replace_moves(placed, *, card, removes, node):
    move_ = CarveMove(card=card, removes=removes, mode=Mode.WHOLE)
    parts = tuple(replace(part, card=card) for part in placed.parts)
    hosts = tuple(replace(host, node=node.pk) for host in placed.hosts)
    return replace(placed, moves=(move_,), parts=parts, hosts=hosts)


def test_room_promised_to_one_is_not_given_to_another(node):
    work = rows.workload()
    (placed,) = planned().placed
    other = rows.workload()
    Promise.objects.create(card=Card.objects.get(), workload=other, until=now().replace(year=2999))
    refused(placed)
    assert work.attempts.count() == 0


def test_one_unreadable_need_holds_back_its_own_work_alone(node):
    broken = rows.workload(need={"parts": 1, "memory_gb": -3})
    fine = rows.workload()
    assert commit(planned()).opened == 1
    fine.refresh_from_db()
    broken.refresh_from_db()
    assert fine.state == "placed"
    assert broken.waits["detail"] == "its need cannot be read"


def test_a_stale_start_does_not_stop_the_others(node):
    rows.node()
    first, second = rows.workload(), rows.workload()
    made = planned()
    workload_stop(workload=first, actor=SYSTEM)
    done = commit(made)
    assert (done.opened, done.stale) == (1, 1)
    second.refresh_from_db()
    assert second.state == "placed"


def test_why_it_waits_is_stored_once_and_told_when_the_reason_changes(node):
    work = rows.workload(need={"parts": 3, "whole": True})
    for _ in range(2):
        commit(planned())
    work.refresh_from_db()
    assert work.waits["level"] and work.waits["counts"] is not None
    assert work.waits == waiting_explain(workload=work).waits
    assert Event.objects.filter(kind="workload.explained").count() == 1


def test_a_lease_carries_no_more_copies_than_it_has(node):
    rows.node()
    into = rows.project()
    lease = lease_of(into, copies=1)
    for _ in range(2):
        rows.workload(into=into, lease=lease)
    made = planned()
    assert len(made.placed) == 1
    (why,) = made.waits.values()
    assert (str(why.reason), why.detail) == ("held_back", "lease in use")
    commit(made)
    assert not planned().placed


def lease_of(into, copies):
    version = rows.template()
    asked = Request.objects.create(
        project=into,
        requester=rows.member(into),
        template_version=version,
        duration_seconds=3600,
        copies=copies,
    )
    return Lease.objects.create(
        request=asked,
        project=into,
        template_version=version,
        copies=copies,
        valid=Range(now(), now() + timedelta(hours=1)),
    )


def test_a_round_reads_the_pool_in_twelve_queries(node, django_assert_num_queries):
    rows.node(cards=4)
    for _ in range(5):
        rows.workload()
    commit(Plan(placed=planned().placed[:3]))
    with django_assert_num_queries(12):
        snapshot = take(now())
    assert len(snapshot.cards) == 5
    assert len(snapshot.running) == 3
    assert len(snapshot.waiting) == 2


def test_a_start_costs_few_queries(node, django_assert_max_num_queries):
    rows.workload()
    (placed,) = planned().placed
    with django_assert_max_num_queries(24):
        placement_open(workload_id=placed.workload, placed=placed, actor=SYSTEM)
    assert Node.objects.get().generation > 0
