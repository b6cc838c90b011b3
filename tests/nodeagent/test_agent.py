"""The whole loop on simulated cards with real processes."""

from nodeagent.protocol.vocabulary import ExitReason, SliceFound, WorkFound, WorkWanted
from tests.nodeagent.fake_portal import job, mig


async def test_a_slice_is_cut_a_job_runs_on_it_and_everything_goes_away_again(node, portal):
    await node.start()
    await portal.until(lambda: portal.hellos)
    code = "import os; print('hello from', os.environ['GPUPOOL_SLICES'])"
    await portal.want(
        slices=[mig("sl-1", node.card)],
        work=[job("at-1", "python3", "-c", code, slices=["sl-1"])],
    )
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    done = portal.work("at-1")
    assert (done.state, done.exit_code, done.exit_reason) == (
        WorkFound.EXITED,
        0,
        ExitReason.FINISHED,
    )
    assert done.held_s is not None and done.held_s > 0
    assert portal.slice("sl-1").state == SliceFound.READY
    assert portal.slice("sl-1").device.startswith("MIG-")
    await portal.until(lambda: portal.log("at-1") == "hello from sl-1\n")
    await portal.want(slices=[], work=[], closed=["at-1"])
    await portal.until(lambda: portal.slice("sl-1") is None and portal.work("at-1") is None)
    assert all(outcome.ok for outcome in portal.outcomes())
    assert not list((node.state / "work").iterdir())


async def test_a_job_that_obeys_ends_at_once_when_it_is_stopped(node, portal):
    await node.start()
    await portal.want(work=[job("at-1", "sleep", "300")])
    await portal.until(
        lambda: portal.work("at-1") and portal.work("at-1").state == WorkFound.RUNNING
    )
    stop = job("at-1", "sleep", "300", wanted=WorkWanted.STOP, stop_reason="cancelled", grace_s=20)
    await portal.want(work=[stop])
    await portal.until(lambda: portal.work("at-1").clean)
    done = portal.work("at-1")
    assert (done.exit_code, done.exit_reason) == (-15, ExitReason.CANCELLED)


async def test_an_agent_that_is_told_to_stop_its_workloads_leaves_none(node, portal):
    agent = await node.start()
    await portal.want(work=[job("at-1", "sleep", "300"), job("at-2", "sleep", "300")])
    await portal.until(
        lambda: portal.work("at-2") and portal.work("at-2").state == WorkFound.RUNNING
    )
    await agent.stop_workloads(10.0)
    assert {r.reason for r in agent.runner.records.values()} == {ExitReason.NODE_STOPPED}
    assert portal.work("at-1").clean and portal.work("at-2").clean
