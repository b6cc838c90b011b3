"""A gang gives way as a whole: each rank is told, any may answer, the room of all is kept."""

import pytest

from nodeagent.protocol.vocabulary import WorkWanted
from pool.clock import now
from pool.cycle.round import run_rounds
from pool.models import Promise, YieldOrder
from pool.selectors.desired import desired_of
from tests import rows
from tests.pool.services.gangs.gang import free, gang_place, ranks, seen

pytestmark = pytest.mark.django_db
NEED = {"whole": True, "topology": "network", "parts": 4, "nodes": 2}


@pytest.fixture
def gang():
    return gang_place()


@pytest.fixture
def work(gang):
    """A gang at low priority that runs on all cards there are."""
    version = rows.template(need=NEED, priority="low", preemptible=True)
    return gang.run(version=version, priority="low", preemptible=True)


def winner(gang, need):
    made = rows.workload(
        into=gang.into, need=need, version=rows.template(need=need), priority="high"
    )
    run_rounds()
    return made


def leave(gang, work, number):
    gang.nodes[number].pull()
    gang.nodes[number].finish(work, code=-15, reason=None)
    gang.nodes[number].tell()


def test_a_gang_that_is_in_the_way_of_one_card_leaves_as_a_whole(gang, work):
    wants = winner(gang, {"whole": True, "parts": 1})
    assert seen(work).state == "preempting"
    order = YieldOrder.objects.get()
    for node in gang.nodes:
        (wanted,) = desired_of(node=node.row).work
        assert (wanted.wanted, wanted.notice.order) == (WorkWanted.RUN, order.uid)
    leave(gang, work, 1)
    assert (seen(work).state, seen(wants).state) == ("preempting", "queued")
    assert gang.held == 4_000_000
    leave(gang, work, 0)
    assert (seen(work).state, work.exit_reason) == ("queued", "preempted")
    run_rounds()
    assert (seen(wants).state, seen(work).state) == ("placed", "queued")


def test_the_answer_of_any_rank_counts_and_the_newest_checkpoint_of_all(gang, work):
    winner(gang, NEED)
    order = YieldOrder.objects.get()
    at = now().timestamp()
    uid = work.attempts.get().uid
    for number, step in ((1, 7), (0, 5)):
        node = gang.nodes[number]
        node.found(
            uid,
            work.uid,
            node.work[uid].state,
            notice=order.uid,
            noticed_at=at,
            acked_at=at if number else None,
            checkpoint_step=step,
            checkpoint_at=at,
        )
        node.tell()
    order.refresh_from_db()
    assert order.ack_at is not None and order.noticed_at is not None
    assert work.attempts.get().checkpoint_step == 7


def test_a_gang_gets_the_room_of_several_victims_on_several_nodes_at_once(gang):
    version = rows.template(need={"whole": True, "parts": 1}, priority="low", preemptible=True)
    low = {"version": version, "priority": "low", "preemptible": True, "into": gang.into}
    victims = [rows.workload(need={"whole": True, "parts": 1}, **low) for _ in range(4)]
    run_rounds()
    gang.turn()
    wants = winner(gang, NEED)
    assert {seen(one).state for one in victims} == {"preempting"}
    homes = {one.attempts.get().node_id for one in victims}
    assert len(homes) == 2
    for one in victims:
        number = next(
            n for n, node in enumerate(gang.nodes) if node.row.pk == one.attempts.get().node_id
        )
        assert seen(wants).state == "queued"
        leave(gang, one, number)
        run_rounds()
    assert seen(wants).state == "placed"
    assert [one.cards for one in ranks(wants)] == [2, 2]
    assert not Promise.objects.exists()
    gang.turn(0)
    gang.turn(1)
    for number in (0, 1):
        gang.nodes[number].finish(wants)
        gang.nodes[number].tell()
    assert seen(wants).state == "succeeded"


def test_a_gang_that_leaves_while_a_rank_dies_still_goes_back(gang, work):
    winner(gang, NEED)
    gang.nodes[0].pull()
    gang.nodes[0].finish(work, code=1)
    gang.nodes[0].tell()
    assert seen(work).state == "preempting"
    leave(gang, work, 1)
    assert (seen(work).state, work.exit_reason) == ("queued", "preempted")
    free(gang)
