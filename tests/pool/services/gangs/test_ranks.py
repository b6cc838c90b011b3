"""A gang is placed at once, started on every node, and over when every node is clean."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from pool.clock import now
from pool.cycle.round import run_rounds
from pool.events import SYSTEM
from pool.models import Hold, Rank
from pool.selectors.desired import desired_of
from pool.services.gangs.ranks import rank_take
from pool.services.workloads import workload_stop
from tests import rows
from tests.pool.services.gangs.gang import free, gang_place, ranks, requeued, seen

pytestmark = pytest.mark.django_db


@pytest.fixture
def gang():
    return gang_place()


def test_a_gang_holds_cards_and_one_host_share_on_every_node(gang):
    work = gang.submit()
    assert work.state == "placed"
    attempt = work.attempts.get()
    assert (attempt.size, [one.cards for one in ranks(work)]) == (2, [2, 2])
    held = Hold.objects.filter(placement__attempt=attempt)
    by_node = {one.row.pk: held.filter(node=one.row) for one in gang.nodes}
    assert {rows.filter(slice=None).count() for rows in by_node.values()} == {1}
    assert {rows.exclude(slice=None).count() for rows in by_node.values()} == {2}
    assert gang.held == 4_000_000


def test_without_room_on_one_of_the_nodes_nothing_is_held_anywhere(gang):
    rows.workload(into=gang.into, need={"parts": 1, "whole": True})
    run_rounds()
    work = gang.submit()
    assert (work.state, ranks(work)) == ("queued", [])
    assert gang.held == 1_000_000


def test_nodes_of_two_networks_make_no_gang_unless_it_may_lie_anywhere():
    gang = gang_place(count=1)
    rows.node(cards=2, address="10.0.1.1", labels={"network": "fabric-2"})
    near = gang.submit()
    far = gang.submit(expected_seconds=60)
    assert (near.state, far.state) == ("queued", "queued")
    need = {"whole": True, "parts": 4, "nodes": 2, "topology": "anywhere"}
    anyhow = rows.workload(into=gang.into, need=need)
    run_rounds()
    assert seen(anyhow).state == "placed"


def test_every_rank_is_told_its_place_and_who_the_others_are(gang):
    work = gang.submit()
    first, second = (desired_of(node=one.row).work[0] for one in gang.nodes)
    assert (first.launch.rank, second.launch.rank) == (0, 1)
    assert first.attempt == second.attempt == work.attempts.get().uid
    for one in (first, second):
        assert one.launch.hosts == ("10.0.0.1", "10.0.0.2")
        assert (one.launch.size, one.launch.slots, one.launch.port) == (2, (2, 2), 0)
    assert not set(first.slices) & set(second.slices)


def test_the_others_start_once_rank_0_has_chosen_where_to_meet(gang):
    work = gang.submit()
    gang.turn(1)
    assert seen(work).state == "placed" and not gang.nodes[1].work
    before = gang.nodes[1].row.generation
    gang.turn(0)
    gang.nodes[1].row.refresh_from_db()
    assert gang.nodes[1].row.generation > before
    assert desired_of(node=gang.nodes[1].row).work[0].launch.port == 29_500
    assert seen(work).state == "starting"
    gang.turn(1)
    assert seen(work).state == "running"


def test_it_is_over_when_the_last_rank_is_clean_and_not_before(gang):
    work = gang.run()
    gang.nodes[0].finish(work)
    assert gang.nodes[0].tell().closed == (work.attempts.get().uid,)
    assert (seen(work).state, gang.held) == ("running", 4_000_000)
    assert desired_of(node=gang.nodes[0].row).work == ()
    gang.nodes[1].finish(work, clean=False)
    gang.nodes[1].tell()
    assert seen(work).state == "running"
    assert {
        h.slice.state for h in Hold.objects.filter(node=gang.nodes[1].row, slice__isnull=False)
    } == {"cleaning"}
    gang.nodes[1].finish(work)
    gang.nodes[1].tell()
    assert (seen(work).state, work.exit_code) == ("succeeded", 0)
    free(gang)
    assert work.attempts.get().clean_at is not None


def test_the_death_of_one_rank_ends_the_whole_and_names_it(gang):
    work = gang.run()
    gang.nodes[1].finish(work, code=3, reason=ExitReason.OWN_ERROR)
    gang.nodes[1].tell()
    assert (seen(work).state, work.stop_reason) == ("stopping", "rank_died")
    gang.turn(0)
    work = seen(work)
    assert (work.state, work.exit_code, work.exit_reason) == ("failed", 3, "own_error")
    assert "rank 1 on gang-1" in work.message
    assert [(one.exit_code, one.exit_reason) for one in ranks(work)] == [
        (-15, "rank_died"),
        (3, "own_error"),
    ]
    free(gang)


def test_slices_are_locked_before_any_node_and_nodes_in_the_order_of_their_keys(gang):
    work = gang.run()
    gang.nodes[0].finish(work)
    gang.nodes[0].tell()
    gang.nodes[1].finish(work, clean=False, code=3, reason=ExitReason.OWN_ERROR)
    rank = ranks(work)[1]
    found = next(one for one in gang.nodes[1].work.values() if one.rank == 1)
    with CaptureQueriesContext(connection) as queries:
        rank_take(rank=rank, found=found, ours=lambda at: at and now(), actor=SYSTEM)
    said = [one["sql"] for one in queries.captured_queries]
    slices = [n for n, sql in enumerate(said) if 'UPDATE "pool_slice"' in sql]
    nodes = [n for n, sql in enumerate(said) if 'UPDATE "pool_node"' in sql]
    assert slices and nodes
    assert max(slices) < min(nodes)
    keys = [str(node.row.pk) for node in gang.nodes]
    told = [next(key for key in keys if f'"id" = {key}' in said[n]) for n in nodes]
    assert told[:2] == sorted(keys, key=int)


def test_a_gang_that_restarts_goes_back_as_often_as_it_may(gang):
    work = gang.run(on_rank_death="restart", runs_left=1)
    for end in ("queued", "failed"):
        gang.nodes[1].finish(work, code=3, reason=ExitReason.OWN_ERROR)
        gang.nodes[1].tell()
        gang.turn(0)
        work = seen(work)
        assert work.state == end
        free(gang)
        run_rounds()
        gang.turn(0)
        gang.turn(1)
    assert (work.attempts_made, work.runs_left) == (2, 0)


def test_a_rank_that_cannot_start_uses_a_start_whatever_the_policy(gang):
    work = gang.submit()
    gang.turn(0)
    uid = work.attempts.get().uid
    gang.nodes[1].found(
        uid,
        work.uid,
        WorkFound.REFUSED,
        rank=1,
        started_at=None,
        message="no such account",
        clean=True,
        exit_reason=ExitReason.START_FAILED,
    )
    gang.nodes[1].tell()
    assert (seen(work).state, work.stop_reason) == ("stopping", "start_failed")
    gang.turn(0)
    work = requeued(work)
    assert (work.starts_left, work.runs_left) == (2, 0)
    assert "no such account" in work.message


def test_a_cancel_stops_every_rank_and_ends_when_all_are_clean(gang):
    work = gang.run()
    workload_stop(workload=work, actor=SYSTEM)
    gang.turn(0)
    assert seen(work).state == "stopping"
    gang.turn(1)
    assert (seen(work).state, work.exit_reason) == ("cancelled", "cancelled")
    free(gang)


def test_a_cancel_while_it_restarts_wins(gang):
    work = gang.run(on_rank_death="restart", runs_left=5)
    gang.nodes[0].finish(work, code=1, reason=ExitReason.OWN_ERROR)
    gang.nodes[0].tell()
    workload_stop(workload=seen(work), actor=SYSTEM)
    gang.turn(1)
    assert seen(work).state == "cancelled"
    free(gang)


def test_repeated_late_and_reordered_reports_change_nothing(gang):
    work = gang.run()
    late = gang.nodes[0].report()
    gang.nodes[0].finish(work)
    last = gang.nodes[0].report()
    for report in (last, late, last, late):
        gang.nodes[0].tell(report)
    before = [(one.exit_code, one.clean_at) for one in ranks(work)]
    gang.nodes[1].finish(work)
    for _ in range(3):
        gang.nodes[1].tell()
    assert seen(work).state == "succeeded"
    for number, report in ((0, late), (1, gang.nodes[1].report())):
        gang.nodes[number].tell(report)
    assert seen(work).state == "succeeded"
    assert ranks(work)[0].clean_at == before[0][1]
    free(gang)


def test_a_gang_that_fits_on_one_node_has_no_ranks_and_is_told_so(gang):
    work = gang.submit(parts=2, nodes=0)
    assert (work.state, Rank.objects.count(), work.attempts.get().size) == ("placed", 0, 1)
    node = next(one for one in gang.nodes if desired_of(node=one.row).work)
    launch = desired_of(node=node.row).work[0].launch
    assert (launch.rank, launch.size, launch.slots) == (0, 1, (2,))
    node.turn()
    node.finish(work)
    node.tell()
    assert seen(work).state == "succeeded"
    free(gang)


def test_work_without_a_gang_is_told_of_none(gang):
    rows.workload(into=gang.into, need={"parts": 1, "whole": True})
    run_rounds()
    told = [one for node in gang.nodes for one in desired_of(node=node.row).work]
    assert [one.launch for one in told] == [None]
