"""Orders to leave beside maintenance, cordons and reports of nodes: one order of locks for all."""

from datetime import timedelta

import pytest
from django.db import connection, transaction

from pool.clock import now
from pool.cycle.commit import commit
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.errors import IllegalMove, QuotaExceeded, Stale
from pool.events import SYSTEM
from pool.lifecycle.yielding import YieldKind
from pool.models import Node, Quota
from pool.scheduling.plan import plan
from pool.services.calendar.windows import window_create
from pool.services.cards import card_cordon
from pool.services.observed import report_take
from pool.services.yielding.orders import order_leave
from tests import rows
from tests.pool.obedient import Obedient
from tests.pool.services.yielding.conftest import Pool, seen
from tests.races.lockorder import LockOrder, watched
from tests.races.test_rounds import together

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)
REFUSED = (IllegalMove, Stale, QuotaExceeded)
"""What a loser of a race may be told; a deadlock is none of them."""


@pytest.fixture
def pool(transactional_db):
    return Pool(cards=4)


@pytest.fixture
def order():
    return LockOrder()


def kept(orders, *acts):
    """All at once, each watched: nobody was refused for a lock, nobody took one out of order."""
    raised = together(*(watched(one, act) for one, act in zip(orders, acts, strict=True)))
    assert all(one is None or isinstance(one, REFUSED) for one in raised), raised
    assert [one.wrong for one in orders] == [[]] * len(orders)
    return raised


def leaving(work):
    return lambda: order_leave(
        workload=work, kind=YieldKind.BREAK_GLASS, actor=SYSTEM, reason="race"
    )


def round_of(pool):
    """A plan that tells work to leave, and its commit."""
    pool.submit(pool.high)
    pool.submit(pool.high)
    made = plan(take(now()))
    assert made.evictions
    return lambda: commit(made)


def maintenance(pool):
    start = now() + HOUR
    cards = list(pool.node.row.cards.all())

    def plan_it():
        window_create(
            actor=SYSTEM, reason="fans", starts_at=start, ends_at=start + HOUR, cards=cards
        )

    return plan_it


def cordons(pool):
    cards = list(pool.node.row.cards.order_by("-pk"))

    def all_of_them():
        for one in cards:
            card_cordon(card=one, actor=SYSTEM, reason="race")

    return all_of_them


def tells(node):
    report = node.report()
    return lambda: report_take(node=Node.objects.get(pk=node.row.pk), report=report)


def test_the_watch_itself_sees_what_is_out_of_order_and_only_that(order):
    for sql in (
        'SELECT "pool_workload"."id" FROM "pool_workload" WHERE x FOR UPDATE OF "pool_workload"',
        "UPDATE pool_card AS c SET x = 1",
        'UPDATE "pool_workload" SET x = 1',
        'SELECT 1 FROM "pool_quota"',
        'INSERT INTO "pool_quota" VALUES (1)',
    ):
        order.note(sql)
    assert order.wrong == []
    order.note('SELECT "pool_quota"."id" FROM "pool_quota" ORDER BY 1 FOR NO KEY UPDATE')
    assert order.wrong == [("workload", "card", "quota")]


def test_each_transaction_begins_anew(order, pool):
    with connection.execute_wrapper(order):
        Node.objects.filter(pk=pool.node.row.pk).update(state="ready")
        Quota.objects.update(held=0)
        with transaction.atomic():
            Node.objects.filter(pk=pool.node.row.pk).update(state="ready")
            Quota.objects.update(held=0)
    assert order.wrong == [("node", "quota")]


@pytest.mark.parametrize("beside", [maintenance, cordons], ids=["maintenance", "cordons"])
def test_an_order_to_leave_beside(pool, beside):
    works = [pool.running() for _ in range(4)]
    acts = [leaving(one) for one in reversed(works)]
    kept([LockOrder() for _ in range(5)], *acts, beside(pool))
    assert {seen(one).state for one in works} == {"preempting"}


@pytest.mark.parametrize("beside", [maintenance, cordons], ids=["maintenance", "cordons"])
def test_a_round_that_sends_work_away_beside(pool, beside):
    for _ in range(4):
        pool.running()
    kept([LockOrder(), LockOrder()], round_of(pool), beside(pool))


def test_orders_to_leave_beside_the_reports_of_two_nodes(pool):
    works = [pool.running() for _ in range(4)]
    other = Obedient(rows.node(cards=2))
    beside = [pool.submit(pool.low) for _ in range(2)]
    run_rounds()
    other.turn()
    pool.node.finish(works[0])
    acts = [leaving(one) for one in [*works, *beside]]
    orders = [LockOrder() for _ in range(len(acts) + 2)]
    kept(orders, *acts, tells(pool.node), tells(other))
    assert all(one.seen for one in orders)


def test_a_round_that_sends_work_away_beside_the_report_of_its_node(pool):
    for _ in range(4):
        pool.running()
    acts = [round_of(pool), tells(pool.node)]
    kept([LockOrder() for _ in acts], *acts)
