"""Evictions of a round carried out: who is told, who waits for the room, and who comes back."""

from datetime import timedelta

import pytest

from nodeagent.protocol.vocabulary import WorkWanted
from pool.clock import now
from pool.cycle.commit import commit
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.cycle.watch import watch
from pool.errors import Stale
from pool.events import SYSTEM
from pool.lifecycle.yielding import YieldKind
from pool.models import Attempt, Event, Promise, Workload, YieldOrder
from pool.scheduling.plan import plan
from pool.selectors.desired import desired_of
from pool.services.calendar.history import numbers_change
from pool.services.workloads import workload_stop
from pool.services.yielding.orders import Room, leave_together
from tests import rows
from tests.pool.services.yielding.conftest import WHOLE, Pool, order_of, saved, seen

pytestmark = pytest.mark.django_db


def test_low_work_is_told_to_leave_for_high_work_and_runs_on_meanwhile(pool):
    first, second = pool.running(), pool.running()
    winner = pool.submit(pool.high)
    run_rounds()
    told = [one for one in (first, second) if seen(one).state == "preempting"]
    assert len(told) == 1
    order = order_of(told[0])
    assert (order.kind, order.winner) == ("preempt", winner)
    assert told[0].deadline == order.deadline
    assert abs((order.deadline - order.ordered_at).total_seconds() - 30) < 0.01
    (wanted,) = [w for w in desired_of(node=pool.node.row).work if w.notice is not None]
    assert (wanted.workload, wanted.wanted) == (told[0].uid, WorkWanted.RUN)
    assert wanted.notice.order == order.uid
    assert 0 < wanted.notice.seconds <= 30


def test_the_room_is_kept_for_the_winner_and_the_victim_comes_back_by_itself(pool):
    first, second = pool.running(), pool.running()
    winner = pool.submit(pool.high)
    pool.go()
    victim = first if seen(first).state == "preempting" else second
    place = victim.queued_at
    pool.leave(victim)
    assert (seen(victim).state, victim.exit_reason) == ("queued", "preempted")
    assert victim.queued_at == place
    pool.go()
    assert (seen(winner).state, seen(victim).state) == ("running", "queued")
    assert not Promise.objects.exists()
    pool.node.finish(winner)
    pool.node.tell()
    pool.go()
    assert seen(victim).state == "running"
    assert YieldOrder.objects.filter(workload=victim).count() == 1
    assert order_of(victim).outcome == "released"


def test_a_victim_is_not_admitted_into_the_room_it_freed_while_another_leaves(pool):
    first, second = pool.running(), pool.running()
    need = {"parts": 2, "whole": True}
    winner = pool.submit(rows.template(need=need, priority="high"), need=need)
    pool.go()
    assert {seen(first).state, seen(second).state} == {"preempting"}
    pool.leave(first)
    for _ in range(3):
        pool.go()
    assert (seen(first).state, seen(second).state) == ("queued", "preempting")
    pool.leave(second)
    pool.go()
    assert seen(winner).state == "running"
    assert YieldOrder.objects.count() == 2
    assert Event.objects.filter(kind="yield.ordered").count() == 2


def test_three_winners_for_two_rooms_get_one_each_and_the_third_waits(pool):
    pool.running(), pool.running()
    winners = [pool.submit(pool.high) for _ in range(3)]
    for _ in range(3):
        run_rounds()
    assert YieldOrder.objects.count() == 2
    assert set(YieldOrder.objects.values_list("winner", flat=True)) <= {w.pk for w in winners}
    assert Promise.objects.count() == 2
    assert len(set(Promise.objects.values_list("workload", flat=True))) == 2
    assert Workload.objects.filter(state="queued").count() == 3


def test_the_watch_stops_at_the_order_s_deadline_what_has_not_left(pool):
    victim = pool.running()
    pool.running()
    pool.submit(pool.high)
    run_rounds()
    victim = Workload.objects.get(state="preempting")
    past = now() - timedelta(seconds=1)
    YieldOrder.objects.update(deadline=past)
    Workload.objects.filter(pk=victim.pk).update(deadline=past)
    watch()
    assert (seen(victim).state, victim.stop_reason) == ("stopping", "preempted")
    (wanted,) = [w for w in desired_of(node=pool.node.row).work if w.notice is not None]
    assert (wanted.wanted, wanted.stop_reason) == (WorkWanted.STOP, "preempted")
    pool.node.turn()
    assert seen(victim).state == "queued"


def test_a_partition_that_does_not_preempt_keeps_everybody():
    pool = Pool(preemption=False)
    pool.running(), pool.running()
    pool.submit(pool.high)
    run_rounds()
    assert not YieldOrder.objects.exists()


def test_critical_and_equal_work_is_never_told(pool):
    pool.running(rows.template(need=WHOLE, priority="critical"))
    pool.running(pool.high)
    pool.submit(pool.high)
    run_rounds()
    assert not YieldOrder.objects.exists()


def test_work_that_finishes_within_its_notice_has_succeeded(pool):
    pool.running(), pool.running()
    pool.submit(pool.high)
    pool.go()
    victim = Workload.objects.get(state="preempting")
    pool.leave(victim, code=0)
    assert seen(victim).state == "succeeded"
    assert order_of(victim).outcome == "finished"


def test_a_cancel_during_the_notice_ends_the_work_for_good_and_the_winner_starts(pool):
    pool.running(), pool.running()
    winner = pool.submit(pool.high)
    pool.go()
    victim = Workload.objects.get(state="preempting")
    workload_stop(workload=victim, actor=SYSTEM)
    pool.node.turn()
    assert seen(victim).state == "cancelled"
    assert order_of(victim).outcome == "ended"
    pool.go()
    assert seen(winner).state == "running"


def test_a_victim_that_left_between_plan_and_commit_makes_the_order_stale(pool):
    first, second = pool.running(), pool.running()
    pool.submit(pool.high)
    made = plan(take(now()))
    assert len(made.evictions) == 1
    victim = first if made.evictions[0].victim == first.pk else second
    workload_stop(workload=victim, actor=SYSTEM)
    assert commit(made).evicted == 0
    assert not YieldOrder.objects.exists()
    assert not Promise.objects.exists()


def test_ordinary_preemptible_work_is_interrupted_to_a_fifth_at_a_time():
    pool = Pool(cards=4)
    mild = rows.template(need=WHOLE, priority="normal", preemptible=True)
    for _ in range(4):
        pool.running(mild)
    for _ in range(2):
        pool.submit(pool.high, into=rows.project())
    for _ in range(3):
        run_rounds()
    assert YieldOrder.objects.count() == 1
    victim = Workload.objects.get(state="preempting")
    pool.node.pull()
    pool.leave(victim)
    for _ in range(3):
        pool.go()
    assert YieldOrder.objects.count() == 1, "interrupted until it runs again"


def test_training_without_a_checkpoint_is_not_chosen_and_with_one_it_is(pool):
    version = rows.template(need=WHOLE, priority="low", preemptible=True, work_class="training")
    first, second = pool.running(version), pool.running(version)
    pool.submit(pool.high)
    run_rounds()
    assert not YieldOrder.objects.exists()
    saved(second)
    run_rounds()
    assert order_of(second).lost_card_s < 60
    assert not YieldOrder.objects.filter(workload=first).exists()


def test_work_within_its_template_s_minimum_is_not_chosen_and_after_it_it_is(pool):
    version = rows.template(need=WHOLE, priority="low", preemptible=True, min_run_seconds=3600)
    work = [pool.running(version), pool.running(version)]
    pool.submit(pool.high)
    run_rounds()
    assert not YieldOrder.objects.exists()
    begun = now() - timedelta(seconds=3601)
    Attempt.objects.filter(workload=work[0]).update(started_at=begun)
    Workload.objects.filter(pk=work[0].pk).update(expected_seconds=9000)
    run_rounds()
    assert YieldOrder.objects.get().workload == work[0]


def test_who_saved_last_is_the_cheapest_victim(pool):
    first, second = pool.running(), pool.running()
    saved(first, ago=600)
    saved(second, ago=10)
    pool.submit(pool.high)
    run_rounds()
    assert YieldOrder.objects.get().workload == second


def test_inference_has_five_minutes_and_is_taken_out_of_routing(pool):
    version = rows.template(need=WHOLE, priority="low", preemptible=True, work_class="inference")
    pool.running(version), pool.running(version)
    pool.submit(pool.high)
    run_rounds()
    order = YieldOrder.objects.get()
    assert (order.deadline - order.ordered_at).total_seconds() == pytest.approx(300, abs=0.01)
    (wanted,) = [w for w in desired_of(node=pool.node.row).work if w.notice is not None]
    assert wanted.draining
    told = Event.objects.get(kind="yield.ordered")
    assert told.data["draining"] is True, "who leads requests there reads it in the log"


@pytest.mark.parametrize("seconds", [0, 45, 900])
@pytest.mark.parametrize("work_class", ["inference", "data"])
@pytest.mark.parametrize("kind", ["job", "replica"])
def test_orders_give_the_time_that_the_plan_reckoned_with(pool, kind, work_class, seconds):
    numbers_change(values={"inference_notice_s": seconds}, reason="shorter", actor=SYSTEM)
    words = {"priority": "low", "preemptible": True, "work_class": work_class}
    version = rows.template(need=WHOLE, grace_seconds=30, **words)
    for work in (pool.running(version), pool.running(version)):
        Workload.objects.filter(pk=work.pk).update(kind=kind)
    pool.submit(pool.high)
    made = plan(take(now()))
    assert commit(made).evicted == 1
    order = YieldOrder.objects.get()
    given = (order.deadline - order.ordered_at).total_seconds()
    assert given == pytest.approx(made.evictions[0].notice_s, abs=0.001)
    serving = kind == "replica" or work_class == "inference"
    assert given == pytest.approx(max(30, seconds) if serving else 30, abs=0.001)


def test_one_replica_of_an_array_goes_on_serving(pool):
    version = rows.template(need=WHOLE, priority="low", preemptible=True, work_class="inference")
    pieces = [pool.running(version), pool.running(version)]
    whole = pool.submit(version)
    Workload.objects.filter(pk=whole.pk).update(state="succeeded", array_size=2)
    for index, piece in enumerate(pieces):
        changed = {"kind": "replica", "parent": whole, "array_index": index}
        Workload.objects.filter(pk=piece.pk).update(**changed)
    for _ in range(2):
        pool.submit(pool.high)
    seen_now = take(now())
    assert {(one.endpoint, one.spare) for one in seen_now.running} == {(f"array:{whole.pk}", 1)}
    run_rounds()
    run_rounds()
    assert YieldOrder.objects.count() == 1
    stays = Workload.objects.get(kind="replica", state="running")
    last = {stays.pk: YieldKind.PREEMPT}
    waits = Workload.objects.filter(priority="high", state="queued", promises=None)
    with pytest.raises(Stale) as refused:
        leave_together(
            winner_id=waits.latest("pk").pk,
            victims=last,
            room=Room(),
            share_milli=1000,
            actor=SYSTEM,
        )
    assert refused.value.detail["why"] == "an endpoint keeps one that serves"


def test_an_order_is_stale_once_the_minimum_of_its_template_has_grown(pool):
    pool.running(), pool.running()
    pool.submit(pool.high)
    made = plan(take(now()))
    version = pool.low
    type(version).objects.filter(pk=version.pk).update(min_run_seconds=3600)
    assert commit(made).evicted == 0
    assert not YieldOrder.objects.exists()


def test_the_next_attempt_is_told_where_the_last_one_got_to(pool):
    pool.running(), pool.running()
    pool.submit(pool.high)
    pool.go()
    victim = Workload.objects.get(state="preempting")
    saved(victim, step=12)
    pool.leave(victim)
    pool.go()
    winner = Workload.objects.get(priority="high")
    pool.node.finish(winner)
    pool.node.tell()
    run_rounds()
    (wanted,) = [w for w in desired_of(node=pool.node.row).work if w.number == 2]
    assert wanted.resume_step == 12
