"""Ranks report at the same moment, while people cancel and rounds are made: one end, all back."""

import pytest

from nodeagent.protocol.vocabulary import ExitReason
from pool.cycle.round import run_rounds
from pool.cycle.watch import watch
from pool.events import SYSTEM
from pool.models import Attempt, Event, Placement
from pool.services.observed import report_take
from pool.services.workloads import workload_stop
from tests.pool.services.gangs.gang import free, gang_place, seen
from tests.races.test_rounds import together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def gang():
    return gang_place(count=3, cards=1)


def running(gang, **given):
    work = gang.submit(parts=3, nodes=3, **given)
    for number in (0, 1, 2):
        gang.turn(number)
    assert seen(work).state == "running"
    return work


def tells(gang, number):
    """One node's report, as its own process would send it."""
    report = gang.nodes[number].report()
    return lambda: report_take(node=gang.nodes[number].row, report=report)


def once(work):
    assert Event.objects.filter(kind="placement.closed").count() == 1
    assert Placement.objects.get().state == "closed"
    assert Attempt.objects.get().state == "ended"


def test_all_ranks_finish_at_the_same_moment_and_repeat_themselves(gang):
    work = running(gang)
    for node in gang.nodes:
        node.finish(work)
    acts = [tells(gang, number) for number in (0, 1, 2) for _ in range(3)]
    assert together(*acts, watch, run_rounds) == [None] * 11
    assert seen(work).state == "succeeded"
    once(work)
    free(gang)


def test_ranks_die_at_the_same_moment_as_a_person_cancels(gang):
    work = running(gang, on_rank_death="restart", runs_left=3)
    for number, node in enumerate(gang.nodes):
        node.finish(work, code=number + 1, reason=ExitReason.OWN_ERROR)
    acts = [tells(gang, number) for number in (0, 1, 2)]
    cancel = lambda: workload_stop(workload=work, actor=SYSTEM)  # noqa: E731
    raised = together(*acts, cancel)
    assert raised == [None] * 4
    for number in (0, 1, 2):
        gang.turn(number)
    assert seen(work).state in ("cancelled", "queued", "placed")
    if work.state != "cancelled":
        workload_stop(workload=seen(work), actor=SYSTEM)
        for number in (0, 1, 2):
            gang.turn(number)
    assert seen(work).state == "cancelled"
    free(gang)


def test_two_gangs_at_once_for_the_room_of_one_and_exactly_one_starts(gang):
    first = gang.submit(parts=3, nodes=3)
    second = gang.submit(parts=3, nodes=3)
    together(run_rounds, run_rounds, run_rounds)
    states = sorted(seen(one).state for one in (first, second))
    assert states == ["placed", "queued"]
    assert gang.held == 3_000_000
