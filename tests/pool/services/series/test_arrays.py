"""Arrays: one row, one request, so many pieces."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.errors import IllegalMove, Invalid, Stale, TooMany
from pool.events import SYSTEM, Actor
from pool.models import Event, Lease, Project, Request, Workload
from pool.rules.arrays import Array
from pool.selectors.allowances import allowance_used
from pool.selectors.series.arrays import in_use_of, live_of_member, tallies
from pool.services.decisions import request_approve
from pool.services.series.arrays import array_throttle, turn_kept
from pool.services.workloads import (
    workload_hold,
    workload_release,
    workload_resume,
    workload_retry,
    workload_stop,
)
from tests import rows
from tests.pool.many import many, of, state_of

pytestmark = pytest.mark.django_db


def tally(array):
    found = tallies(rows=[array])[array.pk]
    return (found.waiting, found.running, found.done, found.failed, found.gone)


def test_an_array_is_one_row_with_a_piece_for_each_index():
    place = many()
    array = place.submit("0-3,10", throttle=2, name="sweep", command=["python3", "a.py"])
    assert (array.state, array.array_size, array.array_spec) == ("active", 5, "0-3,10")
    pieces = of(array)
    assert [one.array_index for one in pieces] == [0, 1, 2, 3, 10]
    assert [one.name for one in pieces][-1] == "sweep[10]"
    assert {one.state for one in pieces} == {"queued"}
    assert {tuple(one.command) for one in pieces} == {()}
    assert [list(one.partitions.all()) for one in pieces] == [[place.partition]] * 5
    assert not Request.objects.exists()
    assert Event.objects.filter(kind="workload.submitted").count() == 1
    assert tally(array) == (5, 0, 0, 0, 0)


def test_thousands_of_pieces_take_no_more_statements_than_their_batches():
    place = many()
    Project.objects.update(most_live=20_000)
    with CaptureQueriesContext(
        connection,
    ) as few:
        place.submit("0-9")
    with CaptureQueriesContext(connection) as lots:
        array = place.submit("0-2999", throttle=2)
    assert len(lots) <= len(few) + 2 + 1
    assert Workload.objects.filter(parent=array).count() == 3000


@pytest.mark.parametrize("wrong", [Array(""), Array("5-1"), Array("0-9", 0), Array("0-10000")])
def test_wrong_words_of_an_array_are_refused(wrong):
    place = many()
    with pytest.raises(Invalid) as refused:
        place.submit(wrong.spec or ",", throttle=wrong.throttle)
    assert list(refused.value.detail) == ["array"]
    assert not Workload.objects.exists()


def test_every_piece_counts_as_live_work_of_its_member():
    place = many()
    Project.objects.update(most_live=6)
    place.submit("0-3")
    place.submit()
    assert live_of_member(project=place.project, user=place.owner) == 5
    with pytest.raises(TooMany, match="No more than 6"):
        place.submit("0-1")
    place.submit()


def test_one_request_is_for_the_whole_array():
    place = many(allowance=1)
    array = place.submit(
        "0-19", throttle=3, expected_seconds=7200, when_full="ask", weights={"cost": 0}
    )
    assert (array.state, array.entitlement) == ("awaiting_approval", "pending")
    request = Request.objects.get()
    assert (request.copies, request.duration_seconds) == (3, 7 * 7200)
    assert tally(array) == (20, 0, 0, 0, 0)
    assert live_of_member(project=place.project, user=place.owner) == 20
    lead = rows.member(place.project, "lead")
    request_approve(request=request, user=lead, revision=request.revision, actor=Actor.of(lead))
    array.refresh_from_db()
    lease = Lease.objects.get()
    assert (array.state, array.lease) == ("active", lease)
    assert {one.lease_id for one in of(array)} == {lease.pk}
    assert in_use_of(lease=lease) == 3


def test_an_array_takes_of_an_allowance_what_may_run_at_a_time():
    place = many(allowance=4)
    place.submit("0-19", throttle=3)
    place.submit()
    used = allowance_used(project=place.project, partitions=[place.partition], unit="cards_micro")
    assert used == 4_000_000


def test_a_cancelled_array_is_over_when_its_last_piece_is_clean():
    place = many()
    array = place.submit("0-5", throttle=2)
    place.step()
    assert tally(array) == (4, 2, 0, 0, 0)
    workload_stop(workload=array, actor=SYSTEM)
    assert tally(array) == (0, 2, 0, 0, 4)
    assert {one.state for one in of(array)} == {"cancelled", "stopping"}
    assert state_of(array) == "active"
    place.node.turn()
    place.step()
    assert state_of(array) == "cancelled"
    assert {one.state for one in of(array)} == {"cancelled"}
    assert workload_stop(workload=array, actor=SYSTEM).state == "cancelled"


def test_an_array_that_never_ran_is_cancelled_at_once():
    place = many()
    array = place.submit("0-5")
    workload_stop(workload=array, actor=SYSTEM)
    assert state_of(array) == "cancelled"
    assert Event.objects.filter(kind="workload.moved").count() == 2


def test_a_stopped_array_goes_on_with_the_pieces_that_were_stopped():
    place = many()
    array = place.submit("0-5", throttle=2)
    place.step()
    workload_stop(workload=array, actor=SYSTEM, reason="stopped")
    place.node.turn()
    place.step()
    assert state_of(array) == "stopped"
    workload_resume(workload=array, actor=SYSTEM)
    assert state_of(array) == "active"
    assert tally(array) == (2, 0, 0, 0, 4)


def test_failed_pieces_are_tried_again_and_the_array_goes_on():
    place = many()
    array = place.submit("0-2")
    place.step()
    first, *rest = of(array, "running")
    place.finish(*rest)
    place.finish(first, code=1)
    assert state_of(array) == "failed"
    assert tally(array) == (0, 0, 2, 1, 0)
    workload_retry(workload=array, actor=SYSTEM)
    assert (state_of(array), tally(array)) == ("active", (1, 0, 2, 0, 0))
    place.step()
    place.finish(*of(array, "running"))
    assert (state_of(array), tally(array)) == ("succeeded", (0, 0, 3, 0, 0))
    with pytest.raises(IllegalMove):
        workload_retry(workload=array, actor=SYSTEM)


def test_one_failed_piece_is_tried_again_alone():
    place = many()
    array = place.submit("0-1")
    place.step()
    place.finish(*of(array, "running"), code=1)
    assert state_of(array) == "failed"
    piece = of(array)[1]
    workload_retry(workload=piece, actor=SYSTEM)
    assert (state_of(piece), state_of(array)) == ("queued", "active")
    assert tally(array) == (1, 0, 0, 1, 0)


def test_an_array_on_hold_starts_no_further_piece():
    place = many()
    array = place.submit("0-5", throttle=2)
    place.step()
    workload_hold(workload=array, actor=SYSTEM, reason="wait for the data")
    place.finish(*of(array, "running"))
    place.step()
    assert tally(array) == (4, 0, 2, 0, 0)
    assert {one.waits["reason"] for one in of(array, "queued")} == {"array_held"}
    workload_release(workload=array, actor=SYSTEM)
    place.step()
    assert tally(array) == (2, 2, 2, 0, 0)


def test_an_array_on_hold_ends_when_its_last_piece_does():
    place = many()
    array = place.submit("0-1")
    place.step()
    workload_hold(workload=array, actor=SYSTEM)
    place.finish(*of(array, "running"))
    assert state_of(array) == "succeeded"


def test_the_throttle_can_be_changed_while_it_goes_on():
    place = many()
    array = place.submit("0-5", throttle=1)
    place.step()
    assert len(of(array, "running")) == 1
    array_throttle(array=array, throttle=3, actor=SYSTEM)
    place.step()
    assert len(of(array, "running")) == 3
    array_throttle(array=array, throttle=None, actor=SYSTEM)
    place.step()
    assert len(of(array, "running")) == 4
    with pytest.raises(IllegalMove):
        array_throttle(array=of(array)[0], throttle=1, actor=SYSTEM)


def test_a_start_that_would_pass_the_throttle_is_stale():
    place = many()
    array = place.submit("0-5", throttle=1)
    place.step()
    with pytest.raises(Stale):
        turn_kept(seen=of(array, "queued")[0])
