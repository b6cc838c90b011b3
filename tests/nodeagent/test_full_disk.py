"""A disk without room: the agent obeys, tells and makes room again; odd answers end nothing."""

import errno

from nodeagent import disk, diskuse
from nodeagent.protocol.vocabulary import ExitReason, WorkFound, WorkWanted
from tests.nodeagent.fake_portal import job, mig
from tests.nodeagent.waiting import until

LASTS = "cards: {0: {xids: [79]}}\n"


def full(path, body, **how):
    raise OSError(errno.ENOSPC, "No space left on device")


async def test_on_a_full_disk_work_is_stopped_told_clean_and_its_files_go(
    node, portal, monkeypatch
):
    monkeypatch.setattr(diskuse, "LOOK_EVERY_S", 600.0)
    await node.start()
    await portal.want(work=[job("at-1", "sleep", "600", grace_s=1), job("at-2", "sleep", "600")])
    await portal.until(lambda: (one := portal.work("at-1")) and one.state == WorkFound.RUNNING)
    await portal.until(lambda: portal.work("at-2").state == WorkFound.RUNNING)
    with monkeypatch.context() as no_room:
        no_room.setattr(disk, "write_whole", full)
        stop = job(
            "at-1", "sleep", "600", wanted=WorkWanted.STOP, stop_reason="cancelled", grace_s=1
        )
        await portal.want(work=[stop, job("at-2", "sleep", "600")])
        await portal.until(lambda: portal.work("at-1").clean)
        assert portal.work("at-1").exit_reason == ExitReason.CANCELLED
        await portal.want(work=[job("at-2", "sleep", "600")], closed=["at-1"])
        await until(lambda: not (node.work / "at-1").exists(), "the room that it took")
        node.script(LASTS)
        await portal.until(lambda: any(one.xids == (79,) for one in portal.reports[-1].cards))
    assert portal.work("at-2").state == WorkFound.RUNNING


async def test_a_card_that_answers_with_nonsense_costs_a_look_and_no_agent(
    node, portal, monkeypatch
):
    monkeypatch.setattr("nodeagent.agent.READ_EVERY_S", 0.05)
    monkeypatch.setattr("nodeagent.agent.ROW_S", 0.2)
    agent = await node.start()
    await portal.until(lambda: any(batch.readings for batch in portal.batches))
    whole, odd = agent.driver.sample, []

    async def nonsense(at, loads):
        odd.append(at)
        raise KeyError("HBM-Usage(MB)")

    agent.driver.sample = nonsense
    await until(lambda: len(odd) > 3)
    seen = len(portal.batches)
    await portal.until(lambda: len(portal.batches) > seen + 2)
    assert portal.batches[-1].readings == (), "the heartbeat goes on, with nothing to tell"
    agent.driver.sample = whole
    await portal.until(lambda: portal.batches[-1].readings)


async def test_a_step_that_fails_oddly_is_told_and_tried_with_pauses(node, portal, monkeypatch):
    monkeypatch.setattr("nodeagent.execute.RETRY_S", (0.05,))
    agent = await node.start()
    tries = []

    async def nonsense(wanted):
        tries.append(wanted.uid)
        raise ValueError("a profile of another planet")

    monkeypatch.setattr(agent.driver, "create_slice", nonsense)
    await portal.want(slices=[mig("s1", node.card)])
    await portal.until(lambda: (one := portal.slice("s1")) and one.state == "failed")
    assert "another planet" in portal.slice("s1").reason
    assert len(tries) < 10


async def test_a_driver_that_fails_for_a_while_delays_reports_and_steps_and_no_more(
    node, portal, monkeypatch
):
    agent = await node.start()
    await portal.until(portal.settled)
    failed, modes = [], agent.driver.modes

    async def nonsense():
        failed.append(1)
        raise IndexError("a table without columns")

    agent.driver.modes = nonsense
    await portal.want(work=[job("at-1", "sleep", "600")])
    await until(lambda: len(failed) > 2)
    agent.driver.modes = modes
    await portal.until(lambda: (one := portal.work("at-1")) and one.state == WorkFound.RUNNING)
