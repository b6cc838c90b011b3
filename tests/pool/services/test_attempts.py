"""Ends of attempts: retries, whose fault it was, and the node's own count of the time."""

from datetime import timedelta

import msgspec
import pytest
from django.db import connection
from django.db.models import F

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.cycle.round import run_rounds
from pool.models import Alert, Attempt, Card, Event, Hold
from pool.selectors.hardware.neighbours import in_reach, times_struck
from tests import rows
from tests.pool.place import free, seen, settled

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    return settled()


def test_a_retry_is_a_new_attempt_and_waits_longer_each_time(place):
    work = place.submit(runs_left=3)
    waits = []
    for _ in range(3):
        place.node.turn()
        place.node.finish(work, code=1, reason=ExitReason.OWN_ERROR)
        place.node.tell()
        seen(work)
        assert work.state == "queued"
        waits.append(None if work.not_before is None else work.not_before - work.state_since)
        work.not_before = None
        work.save()
        run_rounds()
    assert waits[0] is None
    assert [round(one.total_seconds()) for one in waits[1:]] == [10, 20]
    assert list(work.attempts.values_list("number", flat=True)) == [1, 2, 3, 4]


def test_neighbours_faults_use_no_retry_and_are_not_billed(place):
    work = place.submit()
    place.node.turn()
    place.node.finish(work, code=-6, reason=ExitReason.NEIGHBOUR)
    place.node.tell()
    assert (seen(work).state, work.runs_left) == ("queued", 0)
    assert not work.attempts.get().billable


def test_work_that_always_takes_its_neighbours_along_does_not_start_again_for_ever(place):
    work = place.submit(runs_left=1)
    waits = []
    for _ in range(5):
        place.node.turn()
        place.node.finish(work, code=-6, reason=ExitReason.NEIGHBOUR)
        place.node.tell()
        waits.append(seen(work).not_before and round((work.not_before - now()).total_seconds()))
        work.not_before = None
        work.save()
        run_rounds()
    assert (work.state, work.exit_reason, work.runs_left) == ("failed", "neighbour", 0)
    assert waits[0] is None and waits[1] == 10 and waits[2] == 20
    assert not work.attempts.filter(billable=True).exists()


SHARE = {"parts": 1, "memory_gb": 20, "compute_milli": 200, "modes": ["mps"]}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("own", [True, False])
def test_own_work_on_one_card_that_fails_together_is_charged_and_uses_its_retries(
    place, own, at_once
):
    owner = rows.member(place.into)
    other = owner if own else rows.member(place.into)
    first, last = (place.submit(need=SHARE, owner=one, runs_left=1) for one in (owner, other))
    place.node.turn()
    assert {seen(first).state, seen(last).state} == {"running"}
    place.node.finish(first, code=1, reason=ExitReason.NEIGHBOUR)
    place.node.finish(last, code=1, reason=ExitReason.NEIGHBOUR, clean=at_once)
    place.node.tell()
    if not at_once:
        place.node.finish(last, code=1, reason=ExitReason.NEIGHBOUR)
        place.node.tell()
    for work in (first, last):
        assert seen(work).runs_left == (0 if own else 1)
        ended = work.attempts.get(number=1)
        assert ended.exit_reason == ("own_error" if own else "neighbour")
        assert ended.billable is own
    assert Event.objects.filter(kind="card.struck").exists() is not own


@pytest.mark.parametrize(("isolation", "told"), [("process", 1), ("hardware", 0)])
def test_a_card_on_which_work_struck_its_neighbours_is_marked_and_told_of_once(
    place, isolation, told
):
    work = place.submit()
    place.node.turn()
    Hold.objects.exclude(slice=None).update(isolation=isolation)
    (card,) = Card.objects.filter(holds__placement__attempt__workload=work)
    assert in_reach(card=card) == (1 if told else 0)
    place.node.finish(work, code=-6, reason=ExitReason.NEIGHBOUR)
    place.node.tell()
    marked = Event.objects.filter(kind="card.struck", subject=f"card:{card.uid}")
    assert marked.count() == times_struck(card=card) == told
    assert Alert.objects.filter(key=f"neighbour:{card.uid}").count() == told


def test_work_of_a_node_that_is_shut_down_waits_again_without_a_retry_and_unbilled(place):
    work = place.submit()
    place.node.turn()
    place.node.finish(work, code=-15, reason=ExitReason.NODE_STOPPED)
    place.node.tell()
    assert (seen(work).state, work.runs_left, work.exit_reason) == ("queued", 0, "node_stopped")
    assert not work.attempts.get().billable
    free(place)


def long_ago(seconds):
    """Move what is open so far into the past, as if the work had begun then."""
    ago = timedelta(seconds=seconds)
    Attempt.objects.update(started_at=F("started_at") - ago, accepted_at=F("accepted_at") - ago)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pool_hold SET held = tstzrange(lower(held) - %s, NULL) WHERE upper_inf(held)",
            [ago],
        )


def corrected():
    return set(Hold.objects.values_list("corrected_s", flat=True))


@pytest.mark.parametrize(("passed", "count"), [(0, 3600.0), (7200, 3600.0)])
def test_a_node_whose_count_no_delay_explains_is_believed_in_a_correction(place, passed, count):
    work = place.submit()
    place.node.turn()
    long_ago(passed)
    place.node.finish(work, held=count)
    place.node.tell()
    told = Event.objects.get(kind="hold.corrected")
    assert told.data["agent_held_s"] == count
    assert corrected() == {count}


def test_an_end_that_is_told_late_is_no_reason_for_a_correction(place):
    work = place.submit()
    place.node.turn()
    long_ago(600)
    place.node.finish(work, held=510.0)
    ((uid, one),) = place.node.work.items()
    early = {"ended_at": one.ended_at - 90, "clean_at": one.clean_at - 90}
    place.node.work = {uid: msgspec.structs.replace(one, **early)}
    place.node.tell()
    assert seen(work).state == "succeeded"
    assert corrected() == {None}


def test_a_slice_that_took_long_to_make_is_no_reason_for_a_correction(place):
    work = place.submit()
    long_ago(40)
    place.node.turn()
    place.node.finish(work, held=0.5)
    place.node.tell()
    assert seen(work).state == "succeeded"
    assert corrected() == {None}


@pytest.mark.parametrize("count", [-3600.0, 1e9])
def test_a_count_that_no_clock_can_explain_is_not_believed(place, count):
    work = place.submit()
    place.node.turn()
    place.node.finish(work, held=count)
    place.node.tell()
    assert seen(work).state == "succeeded"
    assert corrected() == {None}
    assert not Event.objects.filter(kind="hold.corrected").exists()
