"""Attempts as real processes: how they start, end, and are stopped."""

import asyncio
import json
import os
import signal

import pytest

from nodeagent import logs, processes, records, shim
from nodeagent.enclosure import enclosure
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import (
    ExitReason,
    Mode,
    Silence,
    SliceFound,
    Vendor,
    WorkFound,
)
from nodeagent.runners.base import Order, StartFailed
from nodeagent.runners.process import SHIM_SOURCE
from tests.nodeagent.fake_portal import job
from tests.nodeagent.waiting import until


def order(work, slices=(), fence_s=300.0, lease_at=0.0):
    return Order(work, tuple(slices), Vendor.NVIDIA, fence_s, lease_at)


async def ended(runner, attempt="at-1"):
    return await until(lambda: (r := runner.records[attempt]).ended_at and r, "the end")


async def run(runner, *command, **changes):
    await runner.start(order(job("at-1", *command, **changes)))
    return await ended(runner)


def output(record):
    text, offset = b"", 0
    while piece := logs.piece(record.folder, offset, 1 << 20)[1]:
        offset = logs.piece(record.folder, offset, 1 << 20)[0] + len(piece)
        text += piece
    return text.decode()


@pytest.mark.parametrize(
    ("script", "code", "reason"),
    [
        ("exit 0", 0, ExitReason.FINISHED),
        ("exit 3", 3, ExitReason.OWN_ERROR),
        ("kill -SEGV $$", -11, ExitReason.OWN_ERROR),
        ("kill -KILL $$", -9, ExitReason.KILLED),
        ("kill -XFSZ $$", -25, ExitReason.LIMIT),
        ("echo 'torch.OutOfMemoryError: CUDA out of memory.'; exit 1", 1, ExitReason.OOM_CARD),
    ],
)
async def test_the_exit_code_and_its_reason_are_kept(runner, script, code, reason):
    done = await run(runner, "sh", "-c", script)
    assert (done.state, done.exit_code, done.reason) == (WorkFound.EXITED, code, reason)


async def test_an_upgrade_on_disk_does_not_change_a_running_agent(runner, monkeypatch):
    monkeypatch.setattr(shim, "__file__", "/nowhere/shim.py")
    assert (await run(runner, "true")).exit_code == 0
    started = runner._shim.read_bytes()
    assert started == SHIM_SOURCE and runner._shim.is_relative_to(runner._attempts.parent)


async def test_a_command_that_is_not_there_fails_to_start_and_says_so(runner):
    with pytest.raises(StartFailed, match="command not found"):
        await runner.start(order(job("at-1", "no-such-command")))
    assert runner.records["at-1"].reason == ExitReason.START_FAILED
    assert runner.records["at-1"].exit_code == 127


@pytest.mark.parametrize(
    "account", ["uid:0", "user:root", "uid:12", "nonsense", "user:nobody-here"]
)
async def test_no_job_runs_as_an_account_of_the_system(runner, account, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(StartFailed):
        await runner.start(order(job("at-1", "true", account=account)))
    done = runner.records["at-1"]
    assert (done.state, done.reason) == (WorkFound.REFUSED, ExitReason.START_FAILED)


async def test_files_are_written_into_the_jobs_own_folder_and_nowhere_else(runner):
    done = await run(runner, "python3", "src/main.py", files={"src/main.py": "print('größer')"})
    assert output(done) == "größer\n"
    with pytest.raises(StartFailed, match="leads out"):
        await runner.start(order(job("at-2", "true", files={"../../escape": "x"})))


async def test_the_environment_is_plain_and_names_the_slice(runner):
    found = FoundSlice(
        uid="sl-1",
        card="GPU-1",
        mode=Mode.MIG,
        profile="1g.10gb",
        state=SliceFound.READY,
        memory_mib=9728,
        device="MIG-abc",
    )
    code = "import json, os; print(json.dumps([dict(os.environ), os.getuid(), os.getcwd()]))"
    wish = {"MINE": "yes", "CUDA_VISIBLE_DEVICES": "all", "GPUPOOL_ATTEMPT": "other"}
    await runner.start(
        order(job("at-1", "python3", "-c", code, slices=["sl-1"], env=wish), [found])
    )
    seen, uid, folder = json.loads(output(await ended(runner)))
    assert seen["CUDA_VISIBLE_DEVICES"] == seen["NVIDIA_VISIBLE_DEVICES"] == "MIG-abc"
    assert seen["ROCR_VISIBLE_DEVICES"] == ""
    assert (seen["GPUPOOL_ATTEMPT"], seen["MINE"]) == ("at-1", "yes")
    assert seen["GPUPOOL_MEMORY_MIB"] == "9728"
    assert uid == (200123 if os.geteuid() == 0 else os.geteuid())
    assert folder == seen["HOME"] and seen["TMPDIR"].startswith(str(runner._work_root))
    assert "VIRTUAL_ENV" not in seen and "PYTEST_CURRENT_TEST" not in seen


async def test_a_job_runs_on_the_processors_beside_its_card_and_no_others(
    runner, tmp_path, monkeypatch
):
    """Not what was asked of the kernel: what the kernel says of the running job."""
    mine = sorted(os.sched_getaffinity(0))
    (tmp_path / "node5").mkdir()
    (tmp_path / "node5/cpulist").write_text(f"{mine[-1]}\n")
    monkeypatch.setattr(enclosure, "NUMA", tmp_path)
    say = "import os; print(sorted(os.sched_getaffinity(0)))"
    work = job("at-1", "/usr/bin/python3", "-c", say)
    await runner.start(Order(work, (), Vendor.OTHER, 300.0, 0.0, numa=(5,)))
    assert output(await ended(runner)) == f"[{mine[-1]}]\n"
    free = job("at-2", "/usr/bin/python3", "-c", say)
    await runner.start(Order(free, (), Vendor.OTHER, 300.0, 0.0))
    assert output(await ended(runner, "at-2")) == f"{mine}\n"


async def test_output_keeps_its_beginning_and_its_end(runner):
    code = "import sys\nfor i in range(20000): print('line', i)"
    done = await run(runner, "python3", "-c", code, log_limit_bytes=64 * 1024)
    kept = output(done)
    assert kept.startswith("line 0\nline 1\n") and kept.endswith("line 19999\n")
    assert len(kept) <= 64 * 1024 + 4096
    assert done.report().log_bytes == sum(len(f"line {i}\n") for i in range(20000))


async def test_a_job_that_obeys_may_end_in_its_own_way(runner):
    script = "trap 'echo saved; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    await runner.start(order(job("at-1", "sh", "-c", script)))
    record = runner.records["at-1"]
    await until(lambda: output(record) == "ready\n")
    await runner.stop("at-1", ExitReason.PREEMPTED, 20.0)
    done = await ended(runner)
    assert (done.exit_code, done.reason) == (7, ExitReason.PREEMPTED)
    assert output(done).endswith("saved\n")


async def test_a_job_that_does_not_obey_is_killed_when_its_grace_is_over(runner):
    await runner.start(order(job("at-1", "sh", "-c", "trap '' TERM; while :; do sleep 1; done")))
    await runner.stop("at-1", ExitReason.CANCELLED, 0.2)
    assert runner.records["at-1"].state == WorkFound.STOPPING
    done = await ended(runner)
    assert (done.exit_code, done.reason) == (-9, ExitReason.CANCELLED)


async def test_a_second_stop_can_shorten_the_grace(runner):
    await runner.start(order(job("at-1", "sh", "-c", "trap '' TERM; while :; do sleep 1; done")))
    await runner.stop("at-1", ExitReason.STOPPED, 3600.0)
    await runner.stop("at-1", ExitReason.CANCELLED, 0.0)
    assert (await ended(runner)).reason == ExitReason.STOPPED


async def test_what_a_job_leaves_behind_is_gone_before_it_counts_as_ended(runner):
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.execve('/bin/sleep', ['sleep', '3600'], {})\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    done = await run(runner, "python3", "-c", code)
    assert done.exit_code == 0
    assert not [p for p in processes.pids() if processes.command_line(p)[:2] == ["sleep", "3600"]]


async def test_how_many_processes_a_job_left_behind_is_told_when_it_is_clean(runner):
    done = await run(runner, "sh", "-c", "sleep 601 & sleep 602 & exit 0")
    await runner.clean("at-1")
    runner.cleaned("at-1")
    assert done.report().removed == ("2 processes that outlived its main one",)
    assert records.load(done.folder).removed == done.removed
    tidy = order(job("at-2", "sh", "-c", "sleep 0.01; exit 0"))
    await runner.start(tidy)
    await ended(runner, "at-2")
    await runner.clean("at-2")
    assert runner.records["at-2"].removed == ()


async def test_an_attempt_that_never_started_is_ended_by_its_stop_and_can_never_start(runner):
    await runner.stop("at-1", ExitReason.CANCELLED, 30.0)
    record = runner.records["at-1"]
    assert (record.state, record.reason, record.exit_code) == (
        WorkFound.EXITED,
        ExitReason.CANCELLED,
        None,
    )
    await runner.start(order(job("at-1", "touch", "ran")))
    assert runner.records["at-1"].pid is None


async def test_a_doubled_start_runs_once(runner):
    work = job("at-1", "sh", "-c", "echo ran; sleep 0.2")
    await asyncio.gather(*(runner.start(order(work)) for _ in range(5)), return_exceptions=True)
    assert output(await ended(runner)) == "ran\n"


async def test_cleaning_takes_the_temporary_folder_and_stops_the_clock_once(runner):
    done = await run(runner, "sh", "-c", "echo x > $TMPDIR/left")
    home = runner._work_root / "at-1"
    assert (home / "tmp" / "left").exists()
    await runner.clean("at-1")
    runner.cleaned("at-1")
    held = done.held_s
    assert held is not None and held > 0 and not (home / "tmp").exists()
    runner.cleaned("at-1")
    assert done.held_s == held
    runner.forget("at-1")
    assert not home.exists() and not done.folder.exists() and not runner.records


async def test_only_work_that_asked_for_it_is_fenced_when_the_portal_is_silent(runner):
    long_ago = order(
        job("at-1", "sleep", "600", silence=Silence.REQUEUE, grace_s=5), fence_s=1.0, lease_at=1.0
    )
    await runner.start(long_ago)
    await runner.start(order(job("at-2", "sleep", "600"), fence_s=1.0, lease_at=1.0))
    done = await ended(runner)
    assert (done.exit_code, done.reason) == (-signal.SIGTERM, ExitReason.FENCED)
    assert runner.records["at-2"].state == WorkFound.RUNNING


async def test_a_lease_that_is_renewed_keeps_the_work(runner):
    from nodeagent import clock

    work = job("at-1", "sleep", "2.5", silence=Silence.REQUEUE)
    await runner.start(order(work, fence_s=1.5, lease_at=clock.boottime()))
    while runner.records["at-1"].ended_at is None:
        runner.renew(clock.boottime())
        await asyncio.sleep(0.1)
    assert runner.records["at-1"].reason == ExitReason.FINISHED
