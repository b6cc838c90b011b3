"""Waiting work that no card can hold any more does not wait for ever."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle.impossible import PATIENCE, impossible
from pool.cycle.round import run_rounds
from pool.events import SYSTEM
from pool.models import Card, Event, Workload
from pool.services.series.impossible import impossible_told
from tests import rows
from tests.pool.many import many, of, state_of

pytestmark = pytest.mark.django_db


def taken_away(place):
    Card.objects.filter(node=place.node.row).update(state="retired")


def waits(row):
    row.refresh_from_db()
    return (row.waits or {}).get("reason")


def later(row):
    row.refresh_from_db()
    since = (now() - PATIENCE - timedelta(seconds=1)).timestamp()
    Workload.objects.filter(pk=row.pk).update(waits={**row.waits, "since": since})


def test_what_can_be_held_is_left_alone():
    place = many(cards=1)
    busy, waiting = place.submit(), place.submit()
    run_rounds()
    assert impossible() == 0
    assert (state_of(busy), waits(waiting) == "impossible") == ("placed", False)


def test_work_whose_cards_were_taken_away_is_flagged_and_freed_again():
    place = many()
    work, array = place.submit(), place.submit("0-2")
    taken_away(place)
    assert impossible() == 4
    assert {waits(one) for one in (work, *of(array))} == {"impossible"}
    assert impossible() == 0
    run_rounds()
    assert waits(work) == "impossible"
    assert Event.objects.filter(kind="workload.explained").exists()
    Card.objects.filter(node=place.node.row).update(state="ready")
    assert impossible() == 4
    run_rounds()
    assert state_of(work) == "placed"
    assert "queued" not in {one.state for one in of(array)}


def test_after_an_hour_it_ends_with_its_reason():
    place = many()
    work, array = place.submit(), place.submit("0-2")
    taken_away(place)
    impossible()
    later(work), later(array)
    assert impossible() == 2
    work.refresh_from_db()
    assert (work.state, work.exit_reason) == ("failed", "impossible")
    assert "any more" in work.message
    run_rounds()
    assert state_of(array) == "failed"
    assert {one.exit_reason for one in of(array)} == {"impossible"}


def test_cores_that_no_machine_has_any_more_count_as_well():
    place = many(need={"parts": 0, "cpu_milli": 4000}, allowance=0)
    work = rows.workload(
        into=place.project, version=place.version, partitions=[place.partition], cpu_milli=4000
    )
    assert impossible() == 0
    taken_away(place)
    assert impossible() == 1
    assert waits(work) == "impossible"


def test_work_that_was_placed_meanwhile_is_not_told():
    place = many()
    work = place.submit()
    run_rounds()
    assert (state_of(work), waits(work)) == ("placed", None)
    assert impossible_told(workloads=[work], why="no card", actor=SYSTEM) == 0
    assert waits(work) is None


def test_work_that_waits_for_a_driver_is_left_alone_while_some_node_has_it():
    place = many()
    old = place.node.row
    new = rows.node()
    for node, driver in ((old, "470.1"), (new, "580.1")):
        for card in node.cards.all():
            card.facts = {**card.facts, "driver": driver}
            card.save(update_fields=["facts"])
    work = place.submit(need={"min_driver": "525"})
    assert impossible() == 0
    assert waits(work) != "impossible"
