"""Reports that repeat, come late, out of order or half done: nothing leaks, nothing doubles."""

from datetime import timedelta

import msgspec
import pytest

from nodeagent.protocol.report import CardHealth, FoundWork, Report
from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from pool.clock import now
from pool.cycle.round import run_rounds
from pool.errors import PoolError
from pool.events import SYSTEM
from pool.models import Alert, Attempt, Card, Event, Slice
from pool.selectors.desired import desired_of
from pool.services.moves import move
from pool.services.nodes import node_confirm_dead, node_hello
from pool.services.observed import report_take
from pool.services.workloads import workload_stop
from tests import rows
from tests.pool.place import free, seen, settled

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    return settled()


def test_the_same_report_again_changes_nothing(place):
    work = place.submit()
    place.node.pull()
    report = place.node.report()
    place.node.tell(report)
    count = Event.objects.count()
    for _ in range(3):
        place.node.tell(report)
    assert Event.objects.count() == count
    place.node.finish(work)
    ending = place.node.report()
    place.node.tell(ending)
    count = Event.objects.count()
    taken = place.node.tell(ending)
    assert Event.objects.count() == count
    assert len(taken.closed) == 1
    assert seen(work).state == "succeeded"
    free(place)


def test_an_older_report_after_the_end_wakes_nothing_up(place):
    work = place.submit()
    place.node.pull()
    running = place.node.report()
    place.node.finish(work)
    place.node.tell()
    place.node.tell(running)
    assert seen(work).state == "succeeded"
    assert Attempt.objects.get().state == "ended"
    free(place)


def test_a_job_that_starts_and_ends_between_reports_passes_every_state(place):
    work = place.submit()
    place.node.pull()
    place.node.finish(work, code=3, reason=ExitReason.OWN_ERROR)
    place.node.tell()
    assert (seen(work).state, work.exit_code, work.exit_reason) == ("failed", 3, "own_error")
    free(place)


def test_a_moment_that_no_calendar_has_is_taken_as_long_ago(place):
    work = place.submit()
    place.node.pull()
    place.node.finish(work)
    ((uid, one),) = place.node.work.items()
    place.node.work = {uid: msgspec.structs.replace(one, started_at=-1e18, ended_at=-1e17)}
    place.node.tell()
    assert seen(work).state == "succeeded"
    assert work.attempts.get().started_at < now() - timedelta(days=365)
    free(place)


def test_nothing_is_given_back_before_the_node_is_clean(place):
    work = place.submit()
    place.node.turn()
    place.node.finish(work, clean=False)
    place.node.tell()
    assert seen(work).state == "running"
    assert Slice.objects.get().state == "cleaning"
    assert place.held > 0
    place.node.finish(work)
    place.node.tell()
    assert seen(work).state == "succeeded"
    assert Slice.objects.get().state == "ready"
    free(place)


@pytest.mark.parametrize(
    "how",
    [
        {"state": WorkFound.REFUSED, "message": "mount is missing"},
        {"state": WorkFound.EXITED, "exit_reason": ExitReason.START_FAILED},
        {"state": WorkFound.EXITED, "exit_reason": ExitReason.START_FAILED, "exit_code": 127},
    ],
)
def test_a_start_that_fails_is_tried_again_and_then_gives_all_back(place, how):
    work = place.submit(starts_left=2)
    for left in (1, 0):
        wish = place.node.pull()
        place.node.work = {
            one.attempt: FoundWork(attempt=one.attempt, workload=one.workload, clean=True, **how)
            for one in wish.work
        }
        place.node.tell()
        assert (seen(work).state, work.starts_left) == ("queued", left)
        free(place)
        work.not_before = None
        work.save()
        run_rounds()
    place.node.pull()
    place.node.work = {
        uid: FoundWork(attempt=uid, workload=work.uid, clean=True, **how) for uid in place.node.work
    }
    place.node.tell()
    assert seen(work).state == "failed"
    assert work.exit_reason == "start_failed"
    free(place)


def test_a_stop_is_carried_out_and_ends_by_its_reason(place):
    work = place.submit()
    place.node.turn()
    workload_stop(workload=work, actor=SYSTEM)
    assert seen(work).state == "stopping"
    place.node.turn()
    assert (seen(work).state, work.exit_code, work.exit_reason) == ("cancelled", -15, "cancelled")
    free(place)


def test_a_stop_before_the_node_heard_of_the_start_starts_nothing(place):
    work = place.submit()
    workload_stop(workload=work, actor=SYSTEM)
    place.node.turn()
    assert seen(work).state == "cancelled"
    free(place)


def test_work_that_finished_by_itself_while_being_stopped_has_succeeded(place):
    work = place.submit()
    place.node.turn()
    workload_stop(workload=work, actor=SYSTEM)
    place.node.finish(work)
    place.node.tell()
    assert seen(work).state == "succeeded"
    free(place)


def test_a_node_that_was_started_anew_loses_what_ran_and_makes_its_slices_again(place):
    work = place.submit()
    place.node.turn()
    row = place.node.row
    facts = [rows.card_facts(card.uuid) for card in Card.objects.all()]
    node_hello(node=row, hello=rows.hello(row.name, facts, boot="boot-2"))
    assert (seen(work).state, work.runs_left, work.exit_reason) == ("queued", 0, "node_lost")
    assert not work.attempts.get().billable
    assert Slice.objects.get().state == "creating"
    free(place)
    place.node.work = {}
    place.node.turn()
    assert Slice.objects.get().state == "ready"


def test_hello_again_after_a_mere_restart_of_the_agent_changes_no_work(place):
    work = place.submit()
    place.node.turn()
    row = seen(place.node.row)
    facts = [rows.card_facts(card.uuid) for card in Card.objects.all()]
    node_hello(node=row, hello=rows.hello(row.name, facts))
    assert seen(work).state == "running"
    assert Slice.objects.get().state == "ready"


def test_a_silent_node_that_returns_is_what_it_was_and_its_work_goes_on(place):
    work = place.submit()
    place.node.turn()
    row = seen(place.node.row)
    move(seen(work), "unreachable", actor=SYSTEM)
    move(row, "silent", actor=SYSTEM)
    place.node.tell()
    assert seen(row).state == "ready"
    assert seen(work).state == "running"


def test_a_stop_ordered_while_the_node_was_silent_is_heard_when_it_returns(place):
    work = place.submit()
    place.node.turn()
    row = seen(place.node.row)
    move(seen(work), "unreachable", actor=SYSTEM)
    move(row, "silent", actor=SYSTEM)
    workload_stop(workload=work, actor=SYSTEM)
    place.node.turn()
    place.node.turn()
    assert seen(work).state == "cancelled"
    free(place)


def test_what_a_dead_node_ran_is_stopped_should_it_return_all_the_same(place):
    work = place.submit()
    place.node.turn()
    row = seen(place.node.row)
    move(seen(work), "unreachable", actor=SYSTEM)
    move(row, "silent", actor=SYSTEM)
    node_confirm_dead(node=row, actor=SYSTEM, reason="burnt down")
    assert (seen(work).state, work.exit_reason) == ("queued", "node_lost")
    free(place)
    attempt = work.attempts.get()
    assert desired_of(node=row).closed == (attempt.uid,)
    facts = [rows.card_facts(card.uuid) for card in Card.objects.all()]
    node_hello(node=seen(row), hello=rows.hello(row.name, facts))
    taken = place.node.turn()
    assert taken.closed == (attempt.uid,)
    assert desired_of(node=row).closed == ()


def test_a_node_that_was_given_up_and_lives_is_asked_for_its_hello_and_is_a_node_again(place):
    work = place.submit()
    place.node.turn()
    row = seen(place.node.row)
    move(seen(work), "unreachable", actor=SYSTEM)
    move(row, "silent", actor=SYSTEM)
    node_confirm_dead(node=row, actor=SYSTEM, reason="nobody reaches it")
    taken = place.node.tell()
    assert (taken.hello, taken.closed) == (True, ())
    assert (seen(row).state, seen(work).state) == ("lost", "queued")
    facts = [rows.card_facts(card.uuid) for card in Card.objects.all()]
    node_hello(node=row, hello=rows.hello(row.name, facts))
    assert seen(row).state == "ready"
    assert not place.node.turn().hello
    place.node.turn()
    run_rounds()
    assert seen(work).state == "placed"
    assert Slice.objects.get(lived__upper_inf=True).state == "ready"


def test_work_that_the_books_never_knew_is_told_once_and_left_alone(place):
    stranger = FoundWork(attempt="at-none", workload="wl-none", state=WorkFound.RUNNING, pid=7)
    for _ in range(2):
        taken = place.node.tell(place.node.report(work=(stranger,)))
    assert taken.closed == ()
    assert Alert.objects.filter(key__startswith="found:").count() == 1
    assert Event.objects.filter(kind="found_work.seen").count() == 1
    assert "at-none" not in desired_of(node=place.node.row).closed


def test_a_report_of_another_nodes_attempt_ends_nothing(place):
    work = place.submit()
    place.node.turn()
    attempt = work.attempts.get()
    other = rows.node(label="L40S")
    lie = FoundWork(
        attempt=attempt.uid, workload=work.uid, state=WorkFound.EXITED, clean=True, exit_code=0
    )
    taken = report_take(node=other, report=place.node.report(work=(lie,), slices=()))
    assert taken.closed == ()
    assert seen(work).state == "running"


def test_a_report_costs_few_queries_when_nothing_is_new(place, django_assert_max_num_queries):
    place.submit()
    place.node.turn()
    seen(place.node.row)
    report = place.node.report()
    with django_assert_max_num_queries(8):
        report_take(node=place.node.row, report=report)


def test_a_node_on_which_nothing_lies_costs_the_fewest(django_assert_num_queries):
    """A thousand such nodes report every 20 s: the epoch, what lies there, cards, the count."""
    node = rows.node(cards=10)
    words = {"epoch": 1, "generation": 0, "boot_id": node.boot_id, "sent_at": now().timestamp()}
    health = tuple(CardHealth(uuid=one.uuid, health="ok") for one in node.cards.all())
    with django_assert_num_queries(4):
        report_take(node=node, report=Report(**words, cards=health))
    ill = (CardHealth(uuid=health[0].uuid, health="lost", reason="fell off"), *health[1:])
    report_take(node=node, report=Report(**words, cards=ill))
    assert Card.objects.get(uuid=health[0].uuid).state == "lost", "a change is seen as ever"


def test_nobody_moves_against_the_table(place):
    work = rows.workload()
    with pytest.raises(PoolError) as why:
        move(work, "running", actor=SYSTEM)
    assert why.value.code == "illegal_move"


def test_the_wish_costs_the_same_for_one_job_and_for_many(place, django_assert_num_queries):
    node = rows.node(cards=4, label="H100-80GB")
    for _ in range(4):
        rows.workload(into=place.into, need={"parts": 1, "whole": True, "labels": ["H100-80GB"]})
    run_rounds()
    with django_assert_num_queries(12):
        wish = desired_of(node=node)
    assert len(wish.work) == 4
    assert msgspec.json.encode(wish)
