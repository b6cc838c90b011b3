"""The audit sees faults that are planted in the books beside the services."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle import audit as auditing
from pool.cycle.audit import audit, breaches_now
from pool.cycle.round import run_rounds
from pool.events import SYSTEM
from pool.lifecycle.yielding import YieldKind
from pool.models import Alert, Attempt, Node, Rank, Window, YieldOrder
from pool.scheduling.plan import plan
from pool.services.yielding.orders import order_leave
from tests import rows
from tests.pool.services.calendar.test_windows import begins, window
from tests.pool.services.gangs.gang import gang_place

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(minutes=5)


def test_a_window_that_has_ended_and_left_its_node_out_is_a_breach():
    rows.partition()
    row = window(nodes=[rows.node(cards=2)])
    begins(row)
    assert breaches_now() == []
    then = now() - LONG_AGO
    Window.objects.filter(pk=row.pk).update(state="ended", state_since=then)
    uid = Node.objects.get().uid
    assert breaches_now() == [f"windows: window {row.pk} has ended and keeps {uid} out of service"]
    Window.objects.filter(pk=row.pk).update(state="active")


def test_a_rank_on_a_node_that_its_attempt_does_not_hold_is_a_breach():
    place = gang_place()
    work = place.run()
    assert work.state == "running"
    assert breaches_now() == []
    other = rows.node(name="elsewhere")
    rank = Rank.objects.get(rank=1)
    was = rank.node_id
    Rank.objects.filter(pk=rank.pk).update(node=other)
    told = f"ranks: attempt {rank.attempt_id} has a rank on node {other.pk} and holds nothing there"
    assert breaches_now() == [told]
    Rank.objects.filter(pk=rank.pk).update(node=was)


def test_an_order_that_outlives_its_attempt_is_a_breach():
    place = gang_place()
    work = place.run(preemptible=True)
    order_leave(workload=work, kind=YieldKind.PREEMPT, actor=SYSTEM)
    (order,) = YieldOrder.objects.all()
    assert breaches_now() == []
    Attempt.objects.filter(pk=order.attempt_id).update(ended_at=now() - LONG_AGO)
    assert f"orders: order {order.pk} is open, its attempt has ended" in breaches_now()
    Attempt.objects.filter(pk=order.attempt_id).update(ended_at=None)


def test_a_plan_that_breaks_a_rule_is_a_breach_and_raises_the_alert(monkeypatch):
    rows.partition()
    rows.node(cards=1)
    first, second = rows.workload(), rows.workload()
    assert breaches_now() == []

    def careless(snapshot):
        """The second start is put onto the very place of the first."""
        made = plan(snapshot)
        one, other = made.placed
        same = replace(other, parts=one.parts, moves=())
        return replace(made, placed=(one, same))

    monkeypatch.setattr(auditing, "plan", careless)
    (card,) = {card.pk for card in Node.objects.get().cards.all()}
    assert breaches_now() == [f"plan: overlap of {card} 1g.20gb"]
    assert audit() == [f"plan: overlap of {card} 1g.20gb"]
    (alert,) = Alert.objects.filter(key=auditing.KEY)
    assert alert.severity == "critical"
    assert {first.state, second.state} == {"queued"}, "judging a plan starts nothing"
    monkeypatch.undo()
    assert audit() == []
    assert run_rounds().opened == 2
