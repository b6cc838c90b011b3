"""Starts that an agent left half done: the next agent ends them, and each job runs once."""

from nodeagent import records
from nodeagent.protocol.vocabulary import ExitReason
from tests.nodeagent.fake_portal import job, mig
from tests.nodeagent.runners.test_process import ended, order
from tests.nodeagent.waiting import until


async def test_work_that_was_accepted_and_not_begun_is_begun_by_the_next_agent(node, portal):
    work = job("at-1", "sh", "-c", "exit 3", slices=["sl-1"])
    dead = node.build()
    dead.runner._accepted(work)
    await dead.close()
    await node.start()
    await portal.want(slices=[mig("sl-1", node.card)], work=[work])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    assert portal.work("at-1").exit_code == 3


async def test_a_shim_that_took_its_attempt_after_the_next_agent_looked_is_followed(node, portal):
    work = job("at-1", "sh", "-c", "echo ran; while [ ! -e go ]; do sleep 0.02; done; exit 3")
    first = node.build()
    await first.runner.adopt()
    record = first.runner._accepted(work)
    second = await node.start()
    await until(lambda: "at-1" in second.runner.records)
    assert not second.runner.records["at-1"].claimed
    await first.runner.start(order(work))
    await first.close()
    await portal.want(work=[work])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").pid == record.pid)
    (node.work / "at-1" / "files" / "go").touch()
    await portal.until(lambda: portal.work("at-1").clean)
    await portal.until(lambda: portal.log("at-1"))
    assert (portal.work("at-1").exit_code, portal.log("at-1")) == (3, "ran\n")


async def test_a_stop_reaches_a_shim_that_took_its_attempt_after_the_agent_looked(node):
    work = job("at-1", "sleep", "600")
    first, second = node.build(), node.build()
    await first.runner.adopt()
    records.accept(first.runner._accepted(work))
    await second.runner.adopt()
    await first.runner.start(order(work))
    await first.close()
    await second.runner.stop("at-1", ExitReason.CANCELLED, 10.0)
    assert (await ended(second.runner)).reason == ExitReason.CANCELLED
    await second.close()
