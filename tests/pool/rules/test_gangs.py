"""Who speaks for a gang that ended, and what becomes of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import ExitReason as E
from pool.lifecycle.workloads import WorkloadState as W
from pool.rules.endings import Ended, ending
from pool.rules.gangs import ORDERED, Gang, RankEnd, gang_end, gang_problems


def rank(number, code=0, reason=E.FINISHED, at=0.0, started=True):
    return RankEnd(
        rank=number,
        node=f"node-{number}",
        started=started,
        exit_code=code,
        reason=reason,
        message="",
        ended_s=at,
    )


def ended(**facts):
    words = {
        "exit_code": 1,
        "reason": E.OWN_ERROR,
        "started": True,
        "stop_reason": E.RANK_DIED,
        "runs_left": 0,
        "starts_left": 3,
        "failures": 0,
        "restarts": False,
    }
    return ending(Ended(**words | facts))


def test_a_gang_whose_ranks_all_finished_went_well():
    found = gang_end([rank(0), rank(1)])
    assert (found.exit_code, found.reason, found.culprit) == (0, E.FINISHED, None)


def test_the_rank_that_died_first_by_itself_speaks_for_the_whole():
    found = gang_end(
        [rank(0, -15, E.RANK_DIED, 5.0), rank(1, 3, E.OWN_ERROR, 4.0), rank(2, 4, E.OWN_ERROR, 2.0)]
    )
    assert (found.exit_code, found.culprit.rank) == (4, 2)


@pytest.mark.parametrize("why", [E.CANCELLED, E.LIMIT])
def test_where_all_were_told_to_stop_nobody_is_named(why):
    found = gang_end([rank(1, -15, why), rank(0, -9, why)])
    assert (found.exit_code, found.reason, found.culprit) == (-9, why, None)


def test_a_rank_that_never_started_did_not_go_well():
    assert gang_end([rank(0), rank(1, None, "", started=False)]).culprit.rank == 1


ends = st.builds(
    rank,
    st.integers(0, 20),
    st.one_of(st.none(), st.integers(-15, 3)),
    st.sampled_from([E.FINISHED, E.OWN_ERROR, E.RANK_DIED, E.NODE_LOST, E.CANCELLED]),
    st.floats(0, 100),
)


@given(st.lists(ends, min_size=1, max_size=6, unique_by=lambda one: one.rank), st.randoms())
def test_the_order_in_which_ranks_are_read_says_nothing(ranks, chance):
    before = gang_end(ranks)
    chance.shuffle(ranks)
    assert gang_end(ranks) == before


@given(st.lists(ends, min_size=1, max_size=6, unique_by=lambda one: one.rank))
def test_who_was_told_to_stop_is_never_the_culprit(ranks):
    culprit = gang_end(ranks).culprit
    assert culprit is None or culprit.reason not in ORDERED


@pytest.mark.parametrize(
    ("facts", "state", "run", "start"),
    [
        ({}, W.FAILED, False, False),
        ({"restarts": True}, W.FAILED, False, False),
        ({"restarts": True, "runs_left": 1}, W.QUEUED, True, False),
        ({"runs_left": 5}, W.FAILED, False, False),
        ({"reason": E.NODE_LOST}, W.FAILED, False, False),
        ({"reason": E.NODE_LOST, "restarts": True}, W.QUEUED, False, False),
        ({"reason": E.NODE_LOST, "started": False}, W.QUEUED, False, False),
        ({"reason": E.FENCED}, W.QUEUED, False, False),
        ({"reason": E.START_FAILED, "started": False}, W.QUEUED, False, True),
        ({"reason": E.START_FAILED, "started": False, "starts_left": 0}, W.FAILED, False, False),
        ({"reason": E.LIMIT, "restarts": True, "runs_left": 3}, W.FAILED, False, False),
        ({"stop_reason": E.CANCELLED, "restarts": True, "runs_left": 3}, W.CANCELLED, False, False),
        ({"stop_reason": E.PREEMPTED}, W.QUEUED, False, False),
        ({"reason": E.FINISHED, "exit_code": 0}, W.SUCCEEDED, False, False),
    ],
)
def test_the_end_of_a_gang_leads_where_its_owner_chose(facts, state, run, start):
    judged = ended(**facts)
    assert (judged.state, judged.uses_run, judged.uses_start) == (state, run, start)


def test_a_gang_that_was_lost_with_its_node_is_not_billed():
    assert not ended(reason=E.NODE_LOST).billable
    assert ended().billable


def test_restarts_are_a_few_where_nobody_says_how_many():
    assert Gang(on_rank_death="restart").runs(0) == 3
    assert Gang(on_rank_death="restart").runs(7) == 7
    assert Gang().runs(0) == 0


def test_what_cannot_be_is_told_by_field():
    wrong = gang_problems(Gang(on_rank_death="pray", rendezvous_seconds=0))
    assert set(wrong) == {"on_rank_death", "rendezvous_seconds"}
    assert gang_problems(Gang()) == {}
