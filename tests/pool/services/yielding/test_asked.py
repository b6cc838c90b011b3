"""Orders by people's word, hand-backs to owners, overruns, and training that saves nothing."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle.lateness import late
from pool.cycle.round import run_rounds
from pool.errors import IllegalMove, Invalid
from pool.events import SYSTEM
from pool.models import Alert, Event, Placement, Promise, YieldOrder
from pool.selectors.yielding import loss_now, order_list
from pool.services.yielding.asked import break_glass, preemption_prove, workload_declare
from tests import rows
from tests.pool.services.yielding.conftest import WHOLE, Pool, order_of, saved, seen

pytestmark = pytest.mark.django_db


def ordinary(pool, **given):
    return pool.running(rows.template(need=WHOLE, **given))


def test_break_glass_needs_a_reason_and_running_work_and_spares_nobody(pool):
    work = ordinary(pool, priority="critical")
    with pytest.raises(Invalid):
        break_glass(workload=work, reason=" ", actor=SYSTEM)
    order = break_glass(workload=work, reason="fire", actor=SYSTEM)
    assert (order.kind, order.reason, seen(work).state) == ("break_glass", "fire", "preempting")
    waiting = pool.submit(pool.low, state="on_hold")
    with pytest.raises(IllegalMove):
        break_glass(workload=waiting, reason="fire", actor=SYSTEM)


def test_the_room_of_a_break_glass_goes_to_whom_the_admin_names(pool):
    work, _ = ordinary(pool), ordinary(pool)
    first, named = pool.submit(pool.low), pool.submit(pool.low)
    break_glass(workload=work, reason="fire", actor=SYSTEM, winner=named)
    pool.leave(work)
    pool.go()
    assert (seen(named).state, seen(first).state) == ("running", "queued")


def test_a_rehearsal_keeps_its_own_room_and_tells_when_it_ran_again(pool):
    work, _ = ordinary(pool), ordinary(pool)
    pool.submit(pool.low)
    preemption_prove(workload=work, actor=SYSTEM)
    assert Promise.objects.get().workload == work
    pool.leave(work)
    pool.go()
    assert seen(work).state == "running"
    (order,) = order_list(workload=work)
    assert (order.kind, order.outcome) == ("proof", "released")
    assert order.restarted_at is not None


def test_a_second_order_on_the_retried_work_is_another_one(pool):
    work = ordinary(pool)
    first = break_glass(workload=work, reason="fire", actor=SYSTEM)
    assert break_glass(workload=work, reason="more fire", actor=SYSTEM) == first
    pool.leave(work)
    pool.go()
    second = break_glass(workload=work, reason="more fire", actor=SYSTEM)
    assert second != first
    assert seen(work).state == "preempting"


def test_a_new_declared_time_moves_no_deadline(pool):
    work = ordinary(pool)
    order = break_glass(workload=work, reason="fire", actor=SYSTEM)
    workload_declare(workload=work, expected_seconds=60, actor=SYSTEM)
    assert seen(order).deadline == seen(work).deadline
    assert Event.objects.filter(kind="workload.declared").count() == 1
    with pytest.raises(Invalid):
        workload_declare(workload=work, expected_seconds=10**9, actor=SYSTEM)


def test_borrowed_cards_go_back_to_their_owner_in_the_partition_s_own_time():
    pool = Pool(give_back_seconds=120)
    owner, guest = rows.project(), rows.project()
    rows.quota(limit=2_000_000, kind="entitlement", project=owner, partition=pool.part)
    plain = rows.template(need=WHOLE)
    borrower = pool.running(plain, into=guest)
    pool.running(plain, into=owner)
    run_rounds()
    assert not Placement.objects.get(attempt__workload=borrower).entitled
    waiting = pool.submit(plain, into=owner)
    run_rounds()
    order = order_of(borrower)
    assert (order.kind, order.winner) == ("hand_back", waiting)
    assert (order.deadline - order.ordered_at).total_seconds() == pytest.approx(120, abs=0.01)


def test_what_was_borrowed_is_entitled_again_once_the_guarantee_covers_it():
    pool = Pool()
    guest = rows.project()
    row = rows.quota(limit=0, kind="entitlement", project=guest, partition=pool.part)
    work = pool.running(rows.template(need=WHOLE), into=guest)
    pool.submit(pool.low, state="queued", into=guest, not_before=now() + timedelta(hours=1))
    run_rounds()
    assert not Placement.objects.get(attempt__workload=work).entitled
    type(row).objects.filter(pk=row.pk).update(limit_value=1_000_000, ceiling=1_000_000)
    run_rounds()
    assert Placement.objects.get(attempt__workload=work).entitled


def test_work_past_its_time_is_told_once_and_goes_on(pool):
    work = ordinary(pool)
    work.attempts.update(started_at=now() - timedelta(hours=2))
    assert late(now()) == 1
    assert late(now()) == 0
    assert seen(work).state == "running"
    assert Event.objects.filter(kind="workload.overran").count() == 1


def test_training_that_saves_nothing_is_warned_then_alerted_then_well_again(pool):
    work = ordinary(pool, work_class="training")
    work.attempts.update(started_at=now() - timedelta(minutes=31))
    late(now())
    late(now())
    assert Event.objects.filter(kind="checkpoint.overdue").count() == 1
    assert not Alert.objects.filter(key=f"checkpoint:{work.uid}").exists()
    work.attempts.update(started_at=now() - timedelta(minutes=61), overran_at=now())
    late(now())
    assert Alert.objects.get(key=f"checkpoint:{work.uid}").state == "firing"
    saved(work)
    late(now())
    assert Alert.objects.get(key=f"checkpoint:{work.uid}").state == "resolved"


def test_what_leaving_now_would_lose_counts_from_the_last_checkpoint(pool):
    work = ordinary(pool)
    saved(work, ago=100)
    assert loss_now(workload=work) == pytest.approx(100, abs=20)
    assert loss_now(workload=pool.submit(pool.low, state="on_hold")) is None
    assert not YieldOrder.objects.exists()


def test_work_past_its_time_gives_way_to_work_of_its_own_class(pool):
    late = pool.running(pool.high)
    pool.running(pool.high)
    past = now() - timedelta(seconds=7200)
    late.attempts.update(started_at=past)
    pool.submit(pool.high, expected_seconds=600)
    run_rounds()
    assert (order_of(late).kind, seen(late).state) == ("overrun", "preempting")
