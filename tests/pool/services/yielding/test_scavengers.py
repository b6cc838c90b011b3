"""Scavengers soak up idle time and leave at once: by the rule, the plan and the order alike."""

import pytest

from pool.clock import now
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.rules.yielding import AT_ONCE_S, notice_s
from pool.scheduling.checker import check
from pool.scheduling.plan import plan
from tests import rows
from tests.pool.services.yielding.conftest import WHOLE, Pool, order_of, seen

TIMES = {"grace_s": 120.0, "give_back_s": 300.0, "drain_s": 300.0}


@pytest.mark.parametrize("hand_back", [False, True])
@pytest.mark.parametrize("serving", [False, True])
def test_they_have_a_moment_whatever_they_hold(hand_back, serving):
    asked = {"hand_back": hand_back, "serving": serving, **TIMES}
    assert notice_s(scavenges=True, **asked) == AT_ONCE_S
    assert notice_s(scavenges=False, **asked) > AT_ONCE_S
    assert notice_s(scavenges=True, **(asked | {"grace_s": 2.0})) == 2.0


@pytest.mark.django_db
@pytest.mark.parametrize("priority", ["low", "normal", "high"])
def test_a_round_tells_them_to_leave_at_once_for_work_of_any_other_class(priority):
    pool = Pool(cards=1)
    idle = rows.template(
        need=WHOLE, priority="scavenger", preemptible=True, work_class="transcoding"
    )
    work = pool.running(idle, grace_seconds=120)
    winner = pool.submit(rows.template(need=WHOLE, priority=priority))
    snapshot = take(now())
    made = plan(snapshot)
    assert not check(snapshot, made)
    assert [(one.victim, one.notice_s) for one in made.evictions] == [(work.pk, AT_ONCE_S)]
    run_rounds()
    order = order_of(work)
    assert seen(work).state == "preempting"
    assert abs((order.deadline - order.ordered_at).total_seconds() - AT_ONCE_S) < 0.01
    pool.leave(work)
    pool.go()
    assert (seen(winner).state, seen(work).state) == ("running", "queued")


@pytest.mark.django_db
def test_nobody_leaves_for_a_scavenger():
    pool = Pool(cards=1)
    work = pool.running(pool.low)
    pool.submit(rows.template(need=WHOLE, priority="scavenger"))
    run_rounds()
    assert seen(work).state == "running"
