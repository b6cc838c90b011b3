"""D05: the memory of a share is summed over the processes of its job; its neighbours are spared."""

import pytest

from nodeagent.protocol.desired import Desired, WantedSlice
from nodeagent.protocol.vocabulary import ExitReason, Mode, WorkFound
from tests.nodeagent.fake_portal import job
from tests.nodeagent.waiting import until

pytestmark = pytest.mark.asyncio

SHARES = ("s1", "s2", "s3", "s4")


def share(card, uid):
    return WantedSlice(
        uid=uid,
        card=card,
        mode=Mode.MPS,
        profile="share",
        memory_mib=10240,
        compute_milli=250,
    )


async def test_a_job_of_two_processes_over_its_share_is_warned_and_stopped_alone(node, portal):
    portal.wish = Desired(
        epoch=1,
        generation=2,
        slices=tuple(share(node.card, uid) for uid in SHARES),
        work=tuple(job(f"j-{uid}", "sleep", "600", slices=(uid,), grace_s=1) for uid in SHARES),
    )
    agent = await node.start()
    records = agent.runner.records

    def running():
        live = [r for r in records.values() if r.state == WorkFound.RUNNING]
        return len(live) == 4

    await until(running)
    node.script("slices: {s1: {processes_mib: [9216, 9216]}, s2: {processes_mib: [9216]}}\n")
    await until(lambda: "18432 of 10240 MiB card" in records["j-s1"].warning)
    await until(lambda: records["j-s1"].ended_at is not None)
    assert records["j-s1"].reason == ExitReason.OOM_CARD
    ended = records["j-s1"].report()
    assert ended.peak_memory_mib >= 18432, "the peak is kept, so that a larger share can be asked"
    assert "18432 of 10240 MiB card" in ended.message
    for uid in SHARES[1:]:
        assert records[f"j-{uid}"].state == WorkFound.RUNNING
        assert records[f"j-{uid}"].warning == ""
    told = {one.attempt: one for one in portal.reports[-1].work}
    assert set(told) == {f"j-{uid}" for uid in SHARES}
    assert len(await agent.driver.slices()) == 4, "it was one share all along"
