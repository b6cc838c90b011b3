"""Ranks of one gang on one machine, as simulated nodes have them: apart, told, found again."""

import asyncio
import json

import pytest

from nodeagent import records
from nodeagent.protocol.desired import Desired, Launch
from nodeagent.protocol.vocabulary import ExitReason, StepKind, WorkFound
from nodeagent.reconcile import Found, steps
from nodeagent.runners import adoption
from nodeagent.runners.base import StartFailed
from tests.nodeagent.fake_portal import job
from tests.nodeagent.runners.test_process import ended, order, output

HOSTS = {"size": 2, "hosts": ("127.0.0.1", "127.0.0.1"), "slots": (1, 2)}
TELL = """
import json, os
told = {n: os.environ.get(n) for n in ("RANK", "MASTER_PORT", "GPUPOOL_NUMA_NODES", "HOME")}
print(json.dumps(told | {"hosts": open(os.environ["GPUPOOL_HOSTS_FILE"]).read()}))
"""


def rank_job(rank, port=0, *command, **more):
    argv = command or ("python3", "-c", TELL)
    return job("at-1", *argv, launch=Launch(rank=rank, port=port, **HOSTS), **more)


async def test_rank_0_chooses_a_port_and_keeps_to_it(runner):
    await runner.start(order(rank_job(0)))
    done = await ended(runner)
    told = json.loads(output(done))
    assert (told["RANK"], int(told["MASTER_PORT"])) == ("0", done.port)
    assert done.port >= 1024
    assert told["hosts"] == "127.0.0.1 slots=1\n127.0.0.1 slots=2\n"
    assert records.load(done.folder).port == done.port
    found = done.report()
    assert (found.rank, found.port) == (0, done.port)


async def test_another_rank_takes_the_port_it_is_told_and_a_folder_of_its_own(runner):
    await runner.start(order(rank_job(1, 29_500)))
    done = await ended(runner)
    told = json.loads(output(done))
    assert (told["RANK"], told["MASTER_PORT"]) == ("1", "29500")
    assert done.folder.name == "at-1-r1" and "at-1-r1" in told["HOME"]
    assert (done.report().rank, done.report().port) == (1, 29_500)


async def test_a_rank_is_found_again_by_its_folder_and_by_its_shim(runner, folders):
    await runner.start(order(rank_job(1, 29_500, "sleep", "60")))
    record = runner.records["at-1"]
    label = str(folders[0])
    (found,) = await asyncio.to_thread(adoption.find, record.folder.parent, label)
    assert (found.attempt, found.rank, found.port) == ("at-1", 1, 29_500)
    (record.folder / "record.json").write_text("{torn")
    (found,) = await asyncio.to_thread(adoption.find, record.folder.parent, label)
    assert (found.attempt, found.rank, found.port) == ("at-1", 1, 29_500)
    await runner.stop("at-1", ExitReason.RANK_DIED, 1.0)
    assert (await ended(runner)).reason is ExitReason.RANK_DIED


async def test_a_rank_that_never_started_is_ended_as_that_rank(runner):
    await runner.stop("at-1", ExitReason.RANK_DIED, 1.0, rank=1)
    told = runner.records["at-1"].report()
    assert (told.rank, told.state) == (1, WorkFound.EXITED)


async def test_no_port_of_the_range_is_free_and_the_start_says_so(runner):
    runner._ports = (1, 0)
    with pytest.raises(StartFailed, match="no port from 1 to 0"):
        await runner.start(order(rank_job(0)))


@pytest.mark.parametrize(
    ("rank", "port", "starts"), [(0, 0, True), (1, 0, False), (1, 29_500, True)]
)
def test_no_rank_but_the_first_starts_before_it_is_known_where_to_meet(rank, port, starts):
    wish = Desired(epoch=1, generation=1, work=(rank_job(rank, port),))
    taken = [step.kind for step in steps(wish, Found())]
    assert (StepKind.START_WORK in taken) is starts


async def test_what_only_the_portal_knows_reaches_the_job_and_no_other_name_of_ours(runner):
    wish = {"GPUPOOL_NODE": "n1", "GPUPOOL_ARRAY_INDEX": "7", "GPUPOOL_SHIM": "theirs"}
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    await runner.start(order(job("at-1", "python3", "-c", code, env=wish)))
    seen = json.loads(output(await ended(runner)))
    assert (seen["GPUPOOL_NODE"], seen["GPUPOOL_ARRAY_INDEX"]) == ("n1", "7")
    assert "GPUPOOL_SHIM" not in seen and "MASTER_PORT" not in seen
