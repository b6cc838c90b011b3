"""Slices as their node finds them: made, given up, lost, and nobody's."""

import msgspec
import pytest

from nodeagent.protocol.report import FoundSlice, Outcome
from nodeagent.protocol.vocabulary import Mode, SliceFound, StepKind
from pool.cycle.round import run_rounds
from pool.models import Card, Slice
from tests.pool.place import free, seen, settled

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    return settled()


def test_a_slice_that_cannot_be_made_fails_the_start_and_is_taken_away(place):
    work = place.submit(starts_left=1)
    wish = place.node.pull()
    bad = place.node.slices[wish.slices[0].uid]
    failed = msgspec.structs.replace(bad, state=SliceFound.FAILED, reason="no resources", device="")
    place.node.work = {}
    place.node.tell(place.node.report(slices=(failed,)))
    assert Slice.objects.get().state == "failed"
    assert Slice.objects.get().state_reason == "no resources"
    assert (seen(work).state, work.stop_reason) == ("stopping", "start_failed")
    place.node.turn()
    assert (seen(work).state, work.starts_left, work.stop_reason) == ("queued", 0, "")
    place.node.turn()
    assert Slice.objects.get().state == "gone"
    free(place)
    run_rounds()
    assert seen(work).state == "placed"


def test_one_try_that_failed_fails_no_slice_while_the_node_tries_again(place):
    work = place.submit(starts_left=1)
    uid = place.node.pull().slices[0].uid
    place.node.slices, place.node.work = {}, {}
    busy = Outcome(step=StepKind.CREATE_SLICE, target=uid, ok=False, reason="the card is busy")
    place.node.tell(place.node.report(outcomes=(busy,)))
    assert Slice.objects.get().state == "planned"
    assert (seen(work).state, work.starts_left) == ("placed", 1)
    place.node.turn()
    assert (Slice.objects.get().state, seen(work).state) == ("ready", "running")


def test_a_lost_slice_that_cannot_be_made_again_frees_its_place(place):
    work = place.submit()
    place.node.turn()
    place.node.finish(work)
    place.node.tell()
    Slice.objects.update(state="lost")
    ((uid, found),) = place.node.slices.items()
    failed = msgspec.structs.replace(found, state=SliceFound.FAILED, reason="no resources")
    place.node.tell(place.node.report(slices=(failed,)))
    assert Slice.objects.get(uid=uid).state == "failed"
    wish = place.node.pull()
    assert uid not in {one.uid for one in wish.slices}
    place.node.tell()
    assert Slice.objects.get(uid=uid).state == "gone"


def test_slices_nobody_planned_make_a_card_contested_while_they_are_there(place):
    card = Card.objects.get()
    odd = FoundSlice(
        uid=None,
        card=card.uuid,
        mode=Mode.MIG,
        profile="1g.10gb",
        state=SliceFound.READY,
        memory_mib=9728,
        start=0,
        size=1,
    )
    place.node.tell(place.node.report(slices=(odd,)))
    assert seen(card).state == "contested"
    work = place.submit()
    assert work.state == "queued"
    place.node.tell(place.node.report(slices=()))
    assert seen(card).state == "ready"


def test_a_late_report_without_a_new_slice_does_not_take_it_away(place):
    old = place.node.report()
    work = place.submit()
    place.node.turn()
    place.node.tell(old)
    assert seen(work).state == "running"
    assert Slice.objects.get().state == "ready"
