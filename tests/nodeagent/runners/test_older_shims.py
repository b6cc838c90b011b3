"""A shim that the first agent started, by its own recorded text: today's agent takes it over."""

import json
import marshal
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nodeagent import clock, processes
from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from nodeagent.records import load
from tests.nodeagent.fake_portal import job
from tests.nodeagent.runners.test_process import ended, order, output
from tests.nodeagent.waiting import until

FIRST = Path(__file__).parents[1] / "recorded" / "first_shim.py.txt"
"""The shim as the first agent had it beside itself, to the letter."""

RECORD = {
    "attempt": "at-1",
    "workload": "wl-1",
    "slices": ["sl-1"],
    "grace_s": 5.0,
    "requeue": False,
    "memory_mib": 2048,
}
"""What the first agent wrote of an attempt, beside when it was accepted and in which boot."""

WAITS = "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 5"


@pytest.fixture
def begun(folders):
    """Starts an attempt as the first agent did: its record, its labels, its order, its shim."""
    made = []

    def begin(*command, requeue=False, fence_s=0.0, lease_at=0.0):
        state, work = folders
        folder, home = state / "work" / "at-1", work / "at-1"
        folder.mkdir(parents=True)
        for one in (home / "files", home / "tmp"):
            one.mkdir(parents=True)
        said = RECORD | {"accepted": clock.boottime(), "boot": clock.boot_id(), "requeue": requeue}
        (folder / "record.json").write_text(json.dumps(said))
        shim = shutil.copy(FIRST, state / "shim.py")
        told, theirs = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-E", shim],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs,),
            start_new_session=True,
            cwd="/",
            env={
                "GPUPOOL_SHIM": str(state),
                "GPUPOOL_ATTEMPT": "at-1",
                "GPUPOOL_WORKLOAD": "wl-1",
                "GPUPOOL_SLICES": "sl-1",
                "GPUPOOL_ACCEPTED": repr(said["accepted"]),
                "GPUPOOL_REQUEUE": "1" if requeue else "",
            },
        )
        os.close(theirs)
        spec = {
            "folder": str(folder),
            "argv": list(command),
            "env": {"PATH": "/usr/bin:/bin", "GPUPOOL_ATTEMPT": "at-1"},
            "cwd": str(home / "files"),
            "uid": None,
            "gid": None,
            "groups": [],
            "limits": {"RLIMIT_CORE": 0},
            "nice": 0,
            "log_limit": 1 << 20,
            "grace_s": 5,
            "fence_s": fence_s,
            "lease_at": lease_at,
            "lease": str(state / "lease"),
            "status_fd": theirs,
        }
        process.stdin.write(marshal.dumps(spec))
        process.stdin.close()
        with os.fdopen(told) as words:
            assert words.readline() == "started\n"
        made.append(process)
        return folder, home, process

    yield begin
    for process in made:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()


async def test_its_job_goes_on_under_the_new_agent_and_its_end_is_known(begun, make_runner):
    folder, home, shim = begun("sh", "-c", WAITS)
    runner = await make_runner()
    record = runner.records["at-1"]
    assert (record.state, record.shim_pid) == (WorkFound.RUNNING, shim.pid)
    assert (record.workload, record.slices, record.memory_mib) == ("wl-1", ("sl-1",), 2048)
    await runner.start(order(job("at-1", "sh", "-c", "echo again")))
    (home / "files" / "go").touch()
    done = await ended(runner)
    assert (done.exit_code, done.reason, output(done)) == (5, ExitReason.OWN_ERROR, "one\ntwo\n")
    await runner.clean("at-1")
    runner.cleaned("at-1")
    told = runner.records["at-1"].report()
    assert told.clean and told.held_s is not None and not (home / "tmp").exists()
    assert load(folder).clean


async def test_it_hears_a_stop_of_the_new_agent_with_its_reason(begun, make_runner):
    begun("sh", "-c", "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.02; done")
    runner = await make_runner()
    await until(lambda: "ready" in output(runner.records["at-1"]))
    await runner.stop("at-1", ExitReason.CANCELLED, 20.0)
    done = await ended(runner)
    assert (done.exit_code, done.reason) == (3, ExitReason.CANCELLED)
    assert "asked\n" in output(done)


async def test_it_is_taken_over_by_its_labels_when_its_record_is_gone(begun, make_runner):
    folder, _, shim = begun("sleep", "600")
    (folder / "record.json").unlink()
    runner = await make_runner()
    record = runner.records["at-1"]
    assert (record.workload, record.slices, record.shim_pid) == ("wl-1", ("sl-1",), shim.pid)
    assert (record.rank, record.container) == (0, False), "of what it could not know: nothing"
    await runner.stop("at-1", ExitReason.STOPPED, 0.0)
    await ended(runner)


async def test_it_keeps_its_fence_by_the_lease_that_the_new_agent_renews(begun, make_runner):
    begun("sleep", "600", requeue=True, fence_s=3.0, lease_at=clock.boottime())
    runner = await make_runner()
    assert runner.records["at-1"].requeue
    until_s = clock.boottime() + 5.0

    def renewed():
        runner.renew(clock.boottime())
        return clock.boottime() > until_s

    await until(renewed)
    assert runner.records["at-1"].ended_at is None, "the portal answers: nothing is fenced"
    done = await ended(runner)
    assert done.reason == ExitReason.FENCED


async def test_what_it_left_behind_is_found_by_the_new_agent(begun, make_runner):
    _, home, shim = begun("sh", "-c", "sleep 601 & echo $!; sleep 600")
    runner = await make_runner()
    record = runner.records["at-1"]
    await until(lambda: output(record).strip())
    child = int(output(record))
    os.kill(shim.pid, signal.SIGKILL)
    shim.wait()
    await ended(runner)
    await runner.clean("at-1")
    seen = processes.look(child)
    assert seen is None or seen.state in "ZX"
