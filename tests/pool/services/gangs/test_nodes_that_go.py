"""One node of a gang falls silent, is fenced, dies, or comes back; the others are not forgotten."""

import pytest
from django.conf import settings

from nodeagent.protocol.vocabulary import WorkFound
from pool.cycle.round import run_rounds
from pool.cycle.silence import silence_sweep
from pool.cycle.watch import watch
from pool.events import SYSTEM
from pool.models import Alert, Hold, Rank
from pool.selectors.desired import desired_of
from pool.services.nodes import node_drain, node_hello
from pool.services.workloads import workload_stop
from tests import rows
from tests.pool.services.gangs.gang import free, gang_place, ranks, requeued, seen

pytestmark = pytest.mark.django_db
QUIET = settings.NODE_SILENT_SECONDS + 2
FENCED = settings.FENCE_SECONDS + settings.FENCE_MARGIN_SECONDS + 2


@pytest.fixture
def gang():
    """Two nodes for the gang, and two more so that one silent node is no sign of a cut."""
    return gang_place(count=4)


def quiet(gang, number, until, start=0):
    """One node says nothing while the others go on telling."""
    at = float(start)
    while at <= until:
        for other, node in enumerate(gang.nodes):
            if other != number:
                node.tell()
        silence_sweep(seen=at)
        at += 4


def reboot(gang, number):
    """The node comes back with another boot: what it ran is gone for certain."""
    node = gang.nodes[number]
    node.boot, node.work, node.slices = "boot-2", {}, {}
    found = [rows.card_facts(card.uuid, "A100-80GB", card.index) for card in node.row.cards.all()]
    told = rows.hello(
        node.row.name, found, boot="boot-2", address="10.0.0.9", labels={"network": "fabric-1"}
    )
    node_hello(node=node.row, hello=told)


def test_a_gang_is_out_of_reach_while_one_of_its_nodes_is_silent(gang):
    work = gang.run()
    quiet(gang, 1, QUIET)
    assert seen(work).state == "unreachable"
    gang.turn(0)
    assert seen(work).state == "unreachable"
    gang.nodes[1].tell()
    assert seen(work).state == "running"
    assert gang.held == 4_000_000


def test_a_rank_that_dies_while_another_is_silent_stops_those_in_reach(gang):
    work = gang.run()
    quiet(gang, 1, QUIET)
    gang.nodes[0].finish(work, code=1)
    gang.nodes[0].tell()
    work = seen(work)
    assert (work.state, work.stop_reason) == ("unreachable", "rank_died")
    wanted = desired_of(node=gang.nodes[1].row).work[0].wanted
    assert wanted == "stop"
    gang.turn(1)
    assert seen(work).state == "failed"
    free(gang)


def test_work_that_asked_for_it_is_fenced_whole_and_goes_back(gang):
    work = gang.run(silence="requeue")
    quiet(gang, 1, FENCED)
    work = seen(work)
    assert (work.state, work.stop_reason) == ("stopping", "rank_died")
    assert ranks(work)[1].stage == "lost"
    gang.turn(0)
    requeued(work)
    free(gang)


def test_a_fenced_rank_is_stopped_when_its_node_returns(gang):
    work = gang.run(silence="requeue")
    uid = work.attempts.get().uid
    quiet(gang, 1, FENCED)
    assert desired_of(node=gang.nodes[1].row).closed == (uid,)
    gang.turn(0)
    gang.turn(1)
    assert desired_of(node=gang.nodes[1].row).closed == ()
    assert Rank.objects.filter(clean_at=None).count() == 0
    assert work.attempts.get().clean_at is not None
    requeued(work)


def test_work_that_did_not_ask_for_it_waits_for_its_silent_node(gang):
    work = gang.run(on_rank_death="restart")
    quiet(gang, 1, FENCED)
    assert seen(work).state == "unreachable"
    assert gang.held == 4_000_000


@pytest.mark.parametrize(
    ("policy", "end", "left"), [("fail", "failed", 2), ("restart", "queued", 2)]
)
def test_the_death_of_a_node_ends_the_gang_by_its_policy_and_costs_no_retry(
    gang, policy, end, left
):
    work = gang.run(on_rank_death=policy, runs_left=2)
    reboot(gang, 1)
    assert seen(work).state == "stopping"
    gang.turn(0)
    work = seen(work)
    assert (work.state, work.exit_reason, work.runs_left) == (end, "node_lost", left)
    free(gang)


def test_a_node_that_dies_before_all_ranks_run_costs_the_gang_nothing(gang):
    work = gang.submit()
    gang.turn(0)
    uid = work.attempts.get().uid
    gang.nodes[1].found(uid, work.uid, WorkFound.STARTING, rank=1, started_at=None)
    gang.nodes[1].tell()
    assert seen(work).state == "starting"
    reboot(gang, 1)
    gang.turn(0)
    work = requeued(work)
    assert (work.starts_left, work.runs_left) == (3, 0)


def test_a_stop_that_was_ordered_while_a_node_is_silent_reaches_the_others(gang):
    work = gang.run()
    quiet(gang, 1, QUIET)
    workload_stop(workload=seen(work), actor=SYSTEM)
    gang.turn(0)
    assert seen(work).state == "stopping"
    gang.turn(1)
    assert seen(work).state == "cancelled"
    free(gang)


def test_a_draining_node_is_not_cordoned_while_a_rank_is_on_it(gang):
    work = gang.run()
    node_drain(node=gang.nodes[1].row, actor=SYSTEM, reason="a fan")
    watch()
    assert seen(gang.nodes[1].row).state == "draining"
    for number in (0, 1):
        gang.nodes[number].finish(work)
        gang.nodes[number].tell()
    watch()
    assert seen(gang.nodes[1].row).state == "cordoned"


def test_an_end_whose_writing_was_cut_short_is_written_by_the_watch(gang, monkeypatch):
    from pool.services.gangs import ranks as writer

    work = gang.run()
    gang.nodes[0].finish(work)
    gang.nodes[0].tell()
    gang.nodes[1].finish(work)
    monkeypatch.setattr(writer, "gang_settle", lambda **words: False)
    gang.nodes[1].tell()
    assert seen(work).state == "running"
    watch()
    assert seen(work).state == "succeeded"
    free(gang)


def test_a_rank_that_is_never_clean_keeps_its_cards_from_others_and_a_person_is_told(gang):
    work = gang.run()
    gang.nodes[0].finish(work)
    gang.nodes[0].tell()
    gang.nodes[1].finish(work, clean=False)
    gang.nodes[1].tell()
    slices = Hold.objects.filter(node=gang.nodes[1].row, slice__isnull=False)
    for _ in range(2):
        for hold in slices.select_related("slice"):
            type(hold.slice).objects.filter(pk=hold.slice.pk).update(deadline="2020-01-01T00:00Z")
        watch()
    assert Alert.objects.filter(key__startswith="unclean:").count() == 2
    assert gang.held == 4_000_000
    run_rounds()
