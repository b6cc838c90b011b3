"""The agent as the process that it is: killed, restarted, stopped, started wrongly."""

import asyncio
import os
import signal
import sys

import pytest

from nodeagent import processes
from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from tests.architecture.house import ROOT
from tests.nodeagent.fake_portal import job
from tests.nodeagent.waiting import until

FLEET = """
nodes:
  - name: test-node
    cpus: 8
    memory_gib: 32
    cards: [{model: A100-80GB, count: 2}]
"""


class Program:
    """`python -m nodeagent` over the fixture's folders."""

    def __init__(self, folders, portal):
        self.state, self.work = folders
        self.portal = portal
        self.process = None
        (self.state / "fleet.yaml").write_text(FLEET)
        (self.state / "token").write_text(portal.token + "\n")

    async def start(self, *more):
        folders = ("--state-dir", self.state, "--work-dir", self.work)
        names = ("--fleet", self.state / "fleet.yaml", "--node", "test-node")
        enrol = ("--portal", self.portal.url, "--join-token-file", self.state / "token")
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "nodeagent", *map(str, (*folders, *names, *enrol, *more))),
            cwd=ROOT,
        )

    async def end(self, number):
        self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), 30)


@pytest.fixture
async def program(folders, portal):
    made = Program(folders, portal)
    yield made
    if made.process is not None and made.process.returncode is None:
        await made.end(signal.SIGKILL)
    for _ in range(100):
        shims = [
            pid
            for pid, labels in processes.labelled("GPUPOOL_SHIM")
            if labels["GPUPOOL_SHIM"] == str(made.state)
        ]
        for pid in shims:
            os.kill(pid, signal.SIGKILL)
        if not shims:
            break
        await asyncio.sleep(0.02)


def running(portal, *attempts):
    found = [portal.work(attempt) for attempt in attempts]
    return all(one is not None and one.state == WorkFound.RUNNING for one in found)


async def test_ten_jobs_survive_a_killed_agent_and_end_once_with_their_codes(program, portal):
    await program.start()
    names = [f"at-{number}" for number in range(10)]
    script = "echo ran >> count; while [ ! -e go ]; do sleep 0.02; done; exit {}"
    work = [job(name, "sh", "-c", script.format(n)) for n, name in enumerate(names)]
    await portal.want(work=work)
    await portal.until(lambda: running(portal, *names))
    pids = {name: portal.work(name).pid for name in names}
    await program.end(signal.SIGKILL)
    (program.work / "at-3" / "files" / "go").touch()
    await until((program.state / "work" / "at-3" / "ended").exists)
    portal.reports.clear()
    await program.start()
    await portal.until(lambda: portal.reports)
    assert {name: portal.work(name).pid for name in names} == pids
    for name in names:
        (program.work / name / "files" / "go").touch()
    await portal.until(lambda: all(portal.work(name).clean for name in names))
    assert [portal.work(name).exit_code for name in names] == list(range(10))
    for name in names:
        assert (program.work / name / "files" / "count").read_text() == "ran\n"


async def test_an_agent_killed_at_any_moment_of_starting_runs_each_job_once(program, portal):
    names = [f"at-{number}" for number in range(8)]
    script = "echo ran >> count; sleep 0.1; exit 5"
    await portal.want(work=[job(name, "sh", "-c", script) for name in names])
    for wait in (0.0, 0.01, 0.02, 0.04):
        before = len(portal.hellos)
        await program.start()
        await portal.until(lambda seen=before: len(portal.hellos) > seen)
        await asyncio.sleep(wait)
        await program.end(signal.SIGKILL)
    await program.start()
    await portal.until(lambda: all(portal.work(name) and portal.work(name).clean for name in names))
    assert {portal.work(name).exit_code for name in names} == {5}
    for name in names:
        assert (program.work / name / "files" / "count").read_text() == "ran\n"


async def test_a_stopped_agent_leaves_its_workloads_running(program, portal):
    await program.start()
    await portal.want(work=[job("at-1", "sleep", "300")])
    await portal.until(lambda: running(portal, "at-1"))
    pid = portal.work("at-1").pid
    assert await program.end(signal.SIGTERM) == 0
    assert processes.look(pid) is not None


async def test_a_stopped_agent_takes_its_workloads_along_when_told_so(program, portal):
    await program.start("--stop-workloads", "--grace", "5")
    await portal.want(work=[job("at-1", "sleep", "300")])
    await portal.until(lambda: running(portal, "at-1"))
    pid = portal.work("at-1").pid
    assert await program.end(signal.SIGTERM) == 0
    assert processes.look(pid) is None
    assert portal.work("at-1").exit_reason == ExitReason.NODE_STOPPED


async def test_all_nodes_of_a_fleet_run_in_one_process(program, portal):
    two = FLEET + "  - {name: second-node, cards: [{model: L40S}]}\n"
    (program.state / "fleet.yaml").write_text(two)
    await program.start("--all-nodes")
    await portal.until(lambda: {h.name for h in portal.hellos} == {"test-node", "second-node"})
    assert (program.state / "second-node" / "credential").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--portal", "http://pool.example.com"], "use https"),
        (["--portal", "gpu"], "no http"),
        (["--all-nodes"], "needs --fleet"),
        (["--fleet", "default"], "needs --node"),
        (["--fleet", "default", "--node", "nowhere"], "no node 'nowhere'"),
        (["--fleet", "nothing.yaml", "--node", "x"], "nothing.yaml"),
        (["--grace", "soon"], "no number"),
        (["--log-level", "loud"], "not known"),
    ],
)
async def test_a_wrong_start_is_one_clear_line(folders, arguments, words):
    state, work = folders
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "nodeagent", "--state-dir", str(state), "--work-dir", str(work)),
        *arguments,
        cwd=ROOT,
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await process.communicate()
    assert process.returncode == 2
    assert words in said.decode() and len(said.decode().splitlines()) == 1


async def test_two_agents_never_share_a_state_folder(program, portal):
    await program.start()
    await portal.until(lambda: portal.hellos)
    first = program.process
    await program.start()
    assert await asyncio.wait_for(program.process.wait(), 30) == 2
    program.process = first


async def test_the_doctor_says_what_this_machine_can_do(folders):
    state, work = folders
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "nodeagent", "doctor", "--fleet", "default"),
        *("--state-dir", str(state), "--work-dir", str(work)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    lines = said.decode().splitlines()
    assert process.returncode == 0 and all(line.startswith("ok ") for line in lines)
    assert {line.split()[1] for line in lines} >= {"folders:", "kernel:", "host:", "identity:"}
