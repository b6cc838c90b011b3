"""Orders to leave against ends, cancels, silence and each other, at once: one outcome, no leak."""

import pytest

from nodeagent.protocol.vocabulary import WorkFound
from pool.clock import now
from pool.cycle.audit import breaches_now
from pool.cycle.commit import commit
from pool.cycle.round import run_rounds
from pool.cycle.silence import _silent
from pool.cycle.snapshot import take
from pool.errors import IllegalMove
from pool.events import SYSTEM
from pool.lifecycle.yielding import YieldKind
from pool.models import Event, Node, Promise, YieldOrder
from pool.scheduling.plan import plan
from pool.services.observed import report_take
from pool.services.workloads import workload_stop
from pool.services.yielding.orders import order_leave
from tests.pool.services.yielding.conftest import Pool, seen
from tests.races.test_rounds import together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pool(transactional_db):
    return Pool()


def order(work):
    return order_leave(workload=work, kind=YieldKind.BREAK_GLASS, actor=SYSTEM, reason="race")


def settled():
    """No order is open on work that is over, and every order was given once."""
    for row in YieldOrder.objects.select_related("attempt"):
        assert (row.settled_at is None) == (row.attempt.state == "open")
    assert Event.objects.filter(kind="yield.ordered").count() == YieldOrder.objects.count()
    assert breaches_now() == []


def test_an_order_and_the_natural_end_at_once(pool):
    work = pool.running()
    pool.node.finish(work)
    report = pool.node.report()
    pool.node.work = {}

    def tell():
        report_take(node=Node.objects.get(pk=pool.node.row.pk), report=report)

    raised = together(lambda: order(work), tell)
    assert raised[1] is None
    assert raised[0] is None or isinstance(raised[0], IllegalMove)
    assert seen(work).state == "succeeded"
    settled()


def test_an_order_and_a_cancel_at_once_never_come_back(pool):
    work = pool.running()
    raised = together(lambda: order(work), lambda: workload_stop(workload=work, actor=SYSTEM))
    assert raised[1] is None
    assert seen(work).state == "stopping"
    assert work.stop_reason == "cancelled"
    pool.node.turn()
    assert seen(work).state == "cancelled"
    settled()


def test_ten_orders_at_once_are_one(pool):
    work = pool.running()
    assert together(*(lambda: order(work) for _ in range(10))) == [None] * 10
    assert YieldOrder.objects.count() == 1
    settled()


def test_an_order_and_a_silence_at_once_keep_the_order_s_deadline(pool):
    work = pool.running()
    raised = together(lambda: order(work), lambda: _silent(pool.node.row.pk))
    assert raised[1] is None
    assert raised[0] is None or isinstance(raised[0], IllegalMove)
    assert seen(work).state == "unreachable"
    pool.node.found(work.attempts.get().uid, work.uid, WorkFound.RUNNING)
    pool.node.tell()
    if raised[0] is None:
        assert seen(work).state == "preempting"
        assert abs((work.deadline - YieldOrder.objects.get().deadline).total_seconds()) < 1
    else:
        assert seen(work).state == "running"
    settled()


def test_the_same_evictions_committed_by_four_at_once_are_given_once(pool):
    pool.running(), pool.running()
    pool.submit(pool.high)
    made = plan(take(now()))
    assert len(made.evictions) == 1
    assert together(*(lambda: commit(made) for _ in range(4))) == [None] * 4
    assert YieldOrder.objects.count() == 1
    assert Promise.objects.count() == 1
    settled()


def test_the_winner_is_cancelled_while_its_victim_leaves_and_the_room_is_anybody_s(pool):
    pool.running(), pool.running()
    winner = pool.submit(pool.high)
    pool.go()
    victim = YieldOrder.objects.get().workload
    pool.node.pull()
    pool.node.finish(victim, code=-15, reason=None)
    report = pool.node.report()
    pool.node.work.pop(victim.attempts.get().uid)

    def tell():
        report_take(node=Node.objects.get(pk=pool.node.row.pk), report=report)

    raised = together(tell, lambda: workload_stop(workload=winner, actor=SYSTEM), run_rounds)
    assert raised == [None] * 3
    pool.go()
    assert seen(winner).state in {"cancelled", "stopping"}
    pool.go()
    pool.go()
    assert seen(victim).state == "running"
    settled()
