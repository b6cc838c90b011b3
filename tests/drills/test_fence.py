"""Nodes that say nothing for longer than the fence, and a portal whose clock jumps."""

import signal
import time

import psycopg
import pytest

from tests.drills.agents import NODES, house_with_agents
from tests.drills.guarded import Guarded, nodes, nothing_left
from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("drills")]

SILENT_S, FENCE_S, MARGIN_S = 14, 20, 4
SHORT = {
    "GPUPOOL_NODE_SILENT_SECONDS": str(SILENT_S),
    "GPUPOOL_FENCE_SECONDS": str(FENCE_S),
    "GPUPOOL_FENCE_MARGIN_SECONDS": str(MARGIN_S),
    "GPUPOOL_CLOCK_MOVABLE": "1",
}
STEP = (
    "INSERT INTO pool_clockshift (id, base_real, base_pool, speed) VALUES"
    " (1, clock_timestamp(), clock_timestamp() + make_interval(secs => %s), 1)"
    " ON CONFLICT (id) DO UPDATE SET base_real = excluded.base_real, base_pool = excluded.base_pool"
)
ENDINGS = {
    "killed": lambda agents, name: agents.kill(name),
    "stopped": lambda agents, name: agents.kill(name, signal.SIGSTOP),
    "unplugged": lambda agents, name: agents.unplug(name),
}
ALERT = "SELECT state FROM pool_alert WHERE key = 'silence:mass' ORDER BY id DESC LIMIT 1"
ENDED = "SELECT count(*) FROM pool_attempt WHERE state <> 'open'"


@pytest.fixture(scope="module")
def pair():
    with house_with_agents(**SHORT) as (house, agents):
        yield house, agents


@pytest.fixture
def quiet(pair):
    """The stack with both agents heard; empty again afterwards."""
    house, agents = pair
    agents.well()
    for name in NODES:
        agents.kill(name, signal.SIGCONT)
        agents.start(name)
    agents.all_heard()
    yield house, agents
    nothing_left(house, agents)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_node_dead_past_the_fence_loses_only_what_asked_to_run_elsewhere(quiet, ending):
    """Its own shim stops that first, without any agent; then it runs once more, elsewhere.

    `unplugged`: the agent lives and looks after its work, and no packet passes.
    """
    house, agents = quiet
    keep = Guarded.begun(house, f"keep-{ending}", 3)
    moves = Guarded.begun(house, f"moves-{ending}", silence="requeue")
    where = moves.node
    assert keep.node == where
    ENDINGS[ending](agents, where)
    house.all_in_state([keep.uid, moves.uid], "unreachable", seconds=SILENT_S + 30)
    assert nodes(house)[where] == "silent"
    assert moves.lines("runs") == [moves.lines("runs")[0]]
    until(lambda: moves.lines("signals") == ["TERM"], seconds=FENCE_S + 30, what="the shim's word")
    until(lambda: len(moves.lines("runs")) == 2, seconds=FENCE_S + MARGIN_S + 60, what="run two")
    assert moves.node != where
    row = house.work(keep.uid)
    assert (row["state"], len(row["attempts"]), keep.lines("signals")) == ("unreachable", 1, [])
    agents.well()
    agents.kill(where, signal.SIGCONT)
    agents.start(where)
    agents.all_heard()
    house.all_in_state([keep.uid, moves.uid], "running")
    keep.let_go()
    moves.let_go()
    keep.ended_right("own_error")
    moves.ended_right("fenced", "finished")
    assert (keep.lines("signals"), moves.lines("signals")) == ([], ["TERM"])


def test_when_more_than_half_of_the_nodes_are_silent_the_portal_ends_nothing(quiet):
    house, agents = quiet
    keep = Guarded.begun(house, "many-keep", 4)
    moves = Guarded.begun(house, "many-moves", silence="requeue")
    before = house.rows(ENDED)
    for name in NODES:
        agents.kill(name)
    until(
        lambda: set(nodes(house).values()) == {"silent"}, seconds=SILENT_S + 30, what="all silent"
    )
    since = time.monotonic()
    until(lambda: house.rows(ALERT) == [("firing",)], what="one alert says so")
    until(lambda: moves.lines("signals") == ["TERM"], seconds=FENCE_S + 30, what="the shim's word")
    until(
        lambda: time.monotonic() > since + FENCE_S + MARGIN_S + 2 * SILENT_S,
        seconds=120,
        what="twice as long as would have led to a second run",
    )
    assert house.rows(ENDED) == before, "the portal has ended something that it could not see"
    assert [house.work(one.uid)["state"] for one in (keep, moves)] == ["unreachable"] * 2
    assert len(moves.lines("runs")) == 1
    for name in NODES:
        agents.start(name)
    agents.all_heard()
    until(lambda: house.rows(ALERT) == [("resolved",)], seconds=60, what="the alert is over")
    until(lambda: len(moves.lines("runs")) == 2, seconds=90, what="it runs once more")
    for one in (keep, moves):
        one.let_go()
    keep.ended_right("own_error")
    moves.ended_right("fenced", "finished")
    assert keep.lines("signals") == []


def test_a_portal_clock_that_steps_an_hour_either_way_ends_nothing_and_fences_nobody(quiet):
    house, agents = quiet
    jobs = [Guarded.begun(house, f"hour-{code}", code) for code in range(4)]
    jobs.append(Guarded.begun(house, "hour-moves", 5, silence="requeue"))
    before = house.rows(ENDED)
    for step in (3600, -3600):
        stepped(house, step)
        since = time.monotonic()
        until(
            lambda since=since: time.monotonic() > since + SILENT_S + FENCE_S,
            seconds=90,
            what="long enough for a fence",
        )
        assert set(nodes(house).values()) == {"ready"}
        house.all_in_state([one.uid for one in jobs], "running", seconds=5)
    assert house.rows(ENDED) == before
    for one in jobs:
        one.let_go()
    for one in jobs:
        one.ended_right("own_error" if one.code else "finished")
        assert one.lines("signals") == []
    nothing_left(house, agents)
    spans = house.rows(
        "SELECT extract(epoch FROM upper(h.held) - lower(h.held))::float8, h.corrected_s"
        " FROM pool_hold h JOIN pool_placement p ON p.id = h.placement_id"
        " JOIN pool_attempt a ON a.id = p.attempt_id JOIN pool_workload w ON w.id = a.workload_id"
        " WHERE w.uid = ANY(%s) AND h.slice_id IS NOT NULL",
        [one.uid for one in jobs],
    )
    assert len(spans) == len(jobs)
    for span, corrected in spans:
        assert span > 0
        assert 60 < (span if corrected is None else corrected) < 600, spans


def stepped(house, seconds):
    """The portal's clock stands so many seconds off from now on."""
    with psycopg.connect(house.database) as link:
        link.execute(STEP, [seconds])
