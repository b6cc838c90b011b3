"""Workloads that fail within seconds of each other on one shared card: none of them is blamed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeagent import neighbours
from nodeagent.neighbours import NEAR_S, Mate, beside, struck
from nodeagent.protocol.desired import Desired, WantedSlice
from nodeagent.protocol.vocabulary import ExitReason, Mode, WorkFound
from tests.nodeagent.fake_portal import job
from tests.nodeagent.waiting import until

CARD = frozenset({"GPU-1"})


def mate(name, ended=None, *, failed=False, cards=CARD, workload=""):
    return Mate(name, workload or f"wl-{name}", cards, ended, failed)


def test_two_that_failed_close_together_are_struck_and_a_third_that_runs_is_not():
    mine, other, runs = mate("a", 10.0, failed=True), mate("b", 12.0, failed=True), mate("c")
    assert struck(mine, [other, runs]) == [other]
    assert beside(mine, [other, runs]) == [other, runs]


@pytest.mark.parametrize(
    "other",
    [
        mate("b", 10.0 + NEAR_S + 0.1, failed=True),
        mate("b", 10.0, failed=False),
        mate("b", 10.0, failed=True, cards=frozenset({"GPU-2"})),
        mate("b", 10.0, failed=True, cards=frozenset()),
        mate("b", 10.0, failed=True, workload="wl-a"),
    ],
    ids=["too late", "it ended well", "another card", "no shared card", "the same workload"],
)
def test_a_failure_of_its_own_stays_its_own(other):
    assert struck(mate("a", 10.0, failed=True), [other]) == []


def test_hardware_keeps_ends_apart_and_shares_do_not():
    assert Mode.MPS in neighbours.SHARED and Mode.TIMESLICE in neighbours.SHARED
    assert not {Mode.WHOLE, Mode.MIG, Mode.VGPU} & neighbours.SHARED


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.none() | st.floats(0, 100),
            st.booleans(),
            st.sets(st.sampled_from(["x", "y"])),
        ),
        min_size=2,
        max_size=6,
    )
)
def test_being_struck_is_mutual(drawn):
    mates = [
        Mate(f"a{n}", f"w{workload}", frozenset(cards), ended, failed and ended is not None)
        for n, (workload, ended, failed, cards) in enumerate(drawn)
    ]
    for one in mates:
        for other in struck(one, [m for m in mates if m is not one]):
            assert one in struck(other, [m for m in mates if m is not other])


def share(card, uid, mode=Mode.MPS):
    return WantedSlice(
        uid=uid, card=card, mode=mode, profile="share", memory_mib=10240, compute_milli=250
    )


async def running(node, portal, *commands):
    """One share of the same card for each command; the agent, once all run."""
    uids = [f"s{n}" for n in range(len(commands))]
    portal.wish = Desired(
        epoch=1,
        generation=2,
        slices=tuple(share(node.card, uid) for uid in uids),
        work=tuple(
            job(f"at-{n}", "sh", "-c", command, slices=(uids[n],), grace_s=1)
            for n, command in enumerate(commands)
        ),
    )
    agent = await node.start()
    records = agent.runner.records
    await until(
        lambda: sum(one.state == WorkFound.RUNNING for one in records.values()) == len(commands)
    )
    return agent


def waits(code):
    return f"while [ ! -e go ]; do sleep 0.05; done; exit {code}"


def go(node, *attempts):
    """Let them fail now."""
    for attempt in attempts:
        (node.work / attempt / "files" / "go").touch()


async def test_jobs_of_one_card_that_die_together_are_told_as_struck_and_a_survivor_goes_on(
    node, portal
):
    agent = await running(node, portal, waits(134), waits(1), "sleep 600")
    go(node, "at-0", "at-1")
    await portal.until(lambda: portal.work("at-0").clean and portal.work("at-1").clean)
    told = [portal.work(f"at-{n}") for n in range(2)]
    assert {one.exit_reason for one in told} == {ExitReason.NEIGHBOUR}
    assert [one.exit_code for one in told] == [134, 1]
    assert "within seconds" in told[0].message
    assert agent.runner.records["at-2"].state == WorkFound.RUNNING
    kept = agent.runner.buried("at-0") or agent.runner.records["at-0"].report()
    assert kept.exit_reason == ExitReason.NEIGHBOUR, "kept over a restart"


async def test_a_job_that_fails_alone_beside_others_is_blamed_as_ever(node, portal):
    await running(node, portal, waits(3), "sleep 600")
    go(node, "at-0")
    await portal.until(lambda: portal.work("at-0").clean)
    assert portal.work("at-0").exit_reason == ExitReason.OWN_ERROR
