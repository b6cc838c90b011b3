"""Reservations: asked, confirmed with cards, kept, lent, released; never two on one card."""

from datetime import timedelta

import pytest
from django.db import transaction

from pool.clock import now
from pool.cycle.audit import breaches_now
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.errors import Invalid, NoRoom
from pool.events import SYSTEM
from pool.models import Card, Event, Lease, Partition, Reservation, ReservedCard
from pool.scheduling.checker import check
from pool.scheduling.plan import plan
from pool.services.calendar.reservations import reservation_end
from pool.services.calendar.turns import reservations_due
from pool.services.calendar.windows import window_create
from pool.services.decisions import request_reject
from pool.services.leases import lease_give_back
from pool.services.quotas import quota_set
from pool.services.requests import request_edit, request_withdraw
from pool.wake import round_wanted
from tests import rows
from tests.pool.services.calendar.asker import WHOLE, Asker, cards_of, kept, seen, turn

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def test_it_is_asked_confirmed_active_and_ended_with_its_lease(asker, part):
    request = asker.ask()
    assert Reservation.objects.get(request=request).state == "asked"
    row = asker.approve(request)
    assert (row.state, row.partition, len(kept(row))) == ("confirmed", part, 1)
    assert row.lease.kind == "reserved"
    turn()
    assert seen(row).state == "active"
    lease_give_back(lease=row.lease, actor=SYSTEM)
    assert seen(row).state == "ended"
    assert not kept(row)
    told = Event.objects.filter(kind="reservation.moved").order_by("id")
    assert [one.data["to"] for one in told] == ["confirmed", "active", "ended"]
    assert all(one.data["cards"][0]["micro"] == 1_000_000 for one in told)


def test_a_request_that_ends_without_a_yes_leaves_nothing_kept(asker):
    first, second = asker.ask(), asker.ask()
    request_withdraw(request=first, user=asker.member, actor=SYSTEM)
    request_reject(request=second, user=asker.lead, actor=SYSTEM, reason="no")
    assert set(Reservation.objects.values_list("state", flat=True)) == {"cancelled"}
    assert not ReservedCard.objects.exists()


def test_an_edit_moves_what_is_asked_and_asking_on_demand_calls_it_off(asker):
    request = asker.ask()
    request_edit(request=request, user=asker.member, actor=SYSTEM, duration_seconds=3600)
    row = Reservation.objects.get()
    assert round((row.span.upper - row.span.lower).total_seconds()) == 3600
    request.refresh_from_db()
    request_edit(request=request, user=asker.member, actor=SYSTEM, lease_kind="on_demand")
    assert seen(row).state == "cancelled"


def test_work_without_a_card_cannot_be_reserved(node):
    with pytest.raises(Invalid) as refused:
        Asker(need={"parts": 0, "cpu_milli": 1000}).ask()
    assert "lease_kind" in refused.value.detail


def test_others_do_not_get_the_kept_card_while_it_is_idle(asker):
    row = asker.reserve()
    turn()
    one, two = rows.workload(need=WHOLE), rows.workload(need=WHOLE)
    run_rounds()
    states = sorted([seen(one).state, seen(two).state])
    assert states == ["placed", "queued"]
    assert not (cards_of(one) | cards_of(two)) & kept(row)
    waits = next(w for w in (one, two) if w.state == "queued").waits
    assert dict(waits["counts"]).get("reserved") or waits["reason"] == "reserved"


def test_before_its_begin_only_work_that_ends_in_time_gets_the_card(asker):
    row = asker.reserve(starts_at=now() + HOUR, copies=2)
    long = rows.workload(need=WHOLE, expected_seconds=7200)
    short = rows.workload(need=WHOLE, expected_seconds=600)
    turn()
    assert seen(row).state == "confirmed"
    assert (seen(long).state, seen(short).state) == ("queued", "placed")


def test_preemptible_work_borrows_an_idle_kept_card_where_the_partition_lends(asker, part):
    asker.reserve(copies=2)
    turn()
    work = rows.workload(need=WHOLE, preemptible=True, priority="low")
    run_rounds()
    assert seen(work).state == "placed"
    assert work.attempts.get().placements.get().entitled is False
    Partition.objects.update(lending=False)
    other = rows.workload(need=WHOLE, preemptible=True, priority="low")
    run_rounds()
    assert seen(other).state == "queued"


def test_work_of_the_lease_runs_on_its_own_cards_only(asker):
    row = asker.reserve()
    turn()
    first, second = asker.work(row.lease), asker.work(row.lease)
    Lease.objects.update(copies=2)
    run_rounds()
    assert seen(first).state == "placed"
    assert cards_of(first) == kept(row)
    assert seen(second).state == "queued"


def test_kept_cards_count_in_the_limit_once_from_the_first_second(asker, part, node):
    limit = rows.quota(limit=1_000_000, project=asker.project, partition=part, label="A100-80GB")
    whole = rows.quota(limit=9_000_000, organization=asker.project.organization, partition=part)
    mine = rows.quota(limit=9_000_000, project=asker.project, user=asker.member, partition=part)
    row = asker.reserve()
    turn()
    assert [seen(one).held for one in (limit, whole, mine)] == [1_000_000, 1_000_000, 0]
    work = asker.work(row.lease)
    run_rounds()
    assert seen(work).state == "placed"
    assert [seen(one).held for one in (limit, whole, mine)] == [1_000_000] * 3
    assert breaches_now() == []
    node.turn()
    lease_give_back(lease=row.lease, actor=SYSTEM)
    assert seen(limit).held == 1_000_000
    assert breaches_now() == []
    node.finish(work)
    node.tell()
    assert seen(limit).held == 0
    assert breaches_now() == []


def test_a_row_made_later_counts_what_is_kept(asker, part):
    row = asker.reserve(copies=2)
    turn()
    work = asker.work(row.lease)
    run_rounds()
    assert seen(work).state == "placed"
    quota = quota_set(
        tenant=asker.project, partition=part, unit="cards_micro", limit=5_000_000, actor=SYSTEM
    )
    assert quota.held == 2_000_000
    assert breaches_now() == []


def test_a_limit_that_is_used_up_by_then_shows_as_over_and_the_reservation_stands(asker, part):
    limit = rows.quota(limit=1_000_000, project=asker.project, partition=part, label="A100-80GB")
    before = asker.work(entitlement="lease")
    run_rounds()
    assert seen(before).state == "placed"
    row = asker.reserve()
    turn()
    assert seen(row).state == "active"
    assert (seen(limit).held, limit.ceiling) == (2_000_000, 2_000_000)
    assert breaches_now() == []


def test_nobody_came_so_the_cards_go_and_the_lease_is_on_demand(asker):
    row = asker.reserve()
    turn()
    Reservation.objects.update(state_since=now() - timedelta(minutes=29))
    turn()
    assert seen(row).state == "active"
    Reservation.objects.update(state_since=now() - timedelta(minutes=31))
    turn()
    assert (seen(row).state, row.state_reason) == ("ended", "nobody came")
    assert not kept(row)
    lease = seen(row.lease)
    assert (lease.state, lease.kind) == ("active", "on_demand")
    work = asker.work(lease)
    run_rounds()
    assert seen(work).state == "placed"


def test_who_came_once_is_no_no_show(asker, node):
    row = asker.reserve()
    turn()
    work = asker.work(row.lease)
    run_rounds()
    node.turn()
    reservations_due(actor=SYSTEM)
    node.finish(work)
    node.tell()
    Reservation.objects.update(state_since=now() - timedelta(hours=1))
    turn()
    assert seen(row).state == "active"


def test_work_of_the_lease_waits_until_its_reservation_has_begun(asker):
    row = asker.reserve()
    work = asker.work(row.lease)
    run_rounds()
    assert (seen(work).state, work.waits["reason"]) == ("queued", "held_back")
    turn()
    assert seen(work).state == "placed"


def test_no_card_is_kept_twice_nor_through_maintenance_nor_under_long_work(asker, node):
    first = asker.reserve()
    second = asker.reserve()
    assert not kept(first) & kept(second)
    with pytest.raises(NoRoom):
        asker.reserve()
    later = asker.reserve(starts_at=now() + 3 * HOUR)
    assert kept(later)
    turn()
    reservation_end(row=seen(second), actor=SYSTEM, reason="test")
    start = now() + HOUR
    shut = Card.objects.filter(reserved__reservation=second)
    window_create(reason="fan", starts_at=start, ends_at=start + HOUR, cards=shut, actor=SYSTEM)
    with pytest.raises(NoRoom):
        asker.reserve()


def test_cards_under_work_that_ends_after_its_begin_are_not_promised(asker):
    for _ in range(2):
        rows.workload(need=WHOLE, expected_seconds=7200)
    run_rounds()
    with pytest.raises(NoRoom):
        asker.reserve(starts_at=now() + HOUR)
    assert asker.reserve(starts_at=now() + 3 * HOUR).state == "confirmed"


def test_small_shares_are_kept_on_as_few_cards_as_carry_them(node):
    row = Asker(need={"memory_gb": 20, "compute_milli": 250, "modes": ["mps"]}).reserve(copies=4)
    assert len(kept(row)) == 1
    other = Asker(need={"memory_gb": 20, "compute_milli": 250, "modes": ["mps"]})
    assert len(kept(other.reserve(copies=4))) == 1


def test_the_checker_agrees_with_every_plan_under_reservations(asker):
    row = asker.reserve()
    turn()
    for given in ({"need": WHOLE}, {"need": WHOLE, "preemptible": True}):
        rows.workload(**given)
    asker.work(row.lease)
    snapshot = take(now())
    assert check(snapshot, plan(snapshot)) == ()


@pytest.mark.parametrize("overdue", [False, True])
def test_the_owner_gets_a_lent_card_back_from_work_that_gives_way_or_is_overdue(
    asker, node, overdue
):
    Partition.objects.update(preemption=False)
    row = asker.reserve(copies=2, starts_at=now() + HOUR)
    borrower = rows.workload(need=WHOLE, preemptible=not overdue, expected_seconds=600)
    run_rounds()
    node.turn()
    assert seen(borrower).state == "running"
    span = (now() - timedelta(seconds=1), row.span.upper)
    Reservation.objects.update(span=span)
    ReservedCard.objects.update(span=span)
    Lease.objects.update(valid=span)
    reservations_due(actor=SYSTEM)
    works = [asker.work(row.lease) for _ in range(2)]
    run_rounds()
    assert sorted(seen(one).state for one in works) == ["placed", "queued"]
    if overdue:
        assert seen(borrower).state == "running"
        attempt = borrower.attempts.get()
        attempt.started_at = now() - HOUR
        attempt.save()
        round_wanted_now()
        run_rounds()
    assert seen(borrower).state == "preempting"


def round_wanted_now():
    with transaction.atomic():
        round_wanted()
