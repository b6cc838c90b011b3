"""In which order telling work to leave locks what others lock: cards, then nodes, each by id."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.cycle.round import run_rounds
from pool.events import SYSTEM
from pool.lifecycle.yielding import YieldKind
from pool.models import Attempt, Card, Node, Workload
from pool.services.yielding.asked import break_glass
from pool.services.yielding.orders import Room, leave_together
from tests import rows
from tests.pool.services.yielding.conftest import WHOLE, Pool

pytestmark = pytest.mark.django_db

TABLE = re.compile(r'(?:UPDATE|FROM) "(pool_\w+)"')
ORDER = ["pool_workload", "pool_attempt", "pool_placement", "pool_card", "pool_node"]


def locks(captured):
    """The table and the text of every statement that locks rows, in turn."""
    found = []
    for one in captured.captured_queries:
        sql = one["sql"]
        if sql.startswith("UPDATE") or " FOR UPDATE" in sql or " FOR NO KEY UPDATE" in sql:
            found.append((TABLE.search(sql).group(1), sql))
    return found


def first_locks(captured):
    """The tables in the order in which their rows are locked first."""
    return [name for name in dict.fromkeys(table for table, _ in locks(captured)) if name in ORDER]


def test_a_winner_s_cards_are_locked_before_the_nodes_of_its_victims(pool):
    low = [pool.running(), pool.running()]
    need = {"parts": 2, "whole": True}
    winner = pool.submit(rows.template(need=need, priority="high"), need=need)
    room = Room(cards=frozenset(Card.objects.values_list("pk", flat=True)))
    with CaptureQueriesContext(connection) as captured:
        leave_together(
            winner_id=winner.pk,
            victims={one.pk: YieldKind.PREEMPT for one in low},
            room=room,
            share_milli=1000,
            actor=SYSTEM,
        )
    assert first_locks(captured) == ORDER


def test_break_glass_for_a_winner_locks_in_the_same_order(pool):
    low = pool.running()
    winner = pool.submit(pool.high)
    with CaptureQueriesContext(connection) as captured:
        break_glass(workload=low, reason="a demonstration", actor=SYSTEM, winner=winner)
    assert first_locks(captured) == ORDER


def test_the_nodes_of_all_victims_are_locked_together_whatever_the_victims_order():
    pool = Pool(cards=1)
    low = [pool.running()]
    other = rows.node(cards=1)
    low.append(pool.submit(pool.low))
    run_rounds()
    Workload.objects.filter(pk=low[1].pk).update(state="running")
    here = Node.objects.get(pk=pool.node.row.pk)
    Attempt.objects.filter(workload=low[0]).update(node=other)
    Attempt.objects.filter(workload=low[1]).update(node=here)
    winner = pool.submit(rows.template(need=WHOLE, priority="high"))
    before = dict(Node.objects.values_list("pk", "generation"))
    with CaptureQueriesContext(connection) as captured:
        leave_together(
            winner_id=winner.pk,
            victims={one.pk: YieldKind.PREEMPT for one in low},
            room=Room(),
            share_milli=1000,
            actor=SYSTEM,
        )
    (first, *_) = [sql for table, sql in locks(captured) if table == "pool_node"]
    assert f"({here.pk}, {other.pk})" in first and "ORDER BY" in first
    after = dict(Node.objects.values_list("pk", "generation"))
    assert after == {pk: number + 1 for pk, number in before.items()}
