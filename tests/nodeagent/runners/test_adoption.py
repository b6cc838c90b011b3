"""An agent comes back: the same processes go on, their ends are known, nothing runs twice."""

import os
import shutil
import signal
import subprocess

import pytest

from nodeagent import processes, records
from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from nodeagent.runners.adoption import find, labels, leftovers
from tests.nodeagent.fake_portal import job
from tests.nodeagent.runners.test_process import ended, order, output
from tests.nodeagent.waiting import until


def nothing(folder):
    pass


def torn_record(folder):
    (folder / "record.json").write_text('{"attempt": "at-1", "workl')


def no_record(folder):
    (folder / "record.json").unlink()


def torn_start(folder):
    (folder / "started").write_text("pid=12")


def no_folder(folder):
    shutil.rmtree(folder)


@pytest.mark.parametrize("harm", [nothing, torn_record, no_record, torn_start, no_folder])
async def test_a_running_attempt_is_adopted_whatever_became_of_its_files(make_runner, harm):
    first = await make_runner()
    script = "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 5"
    await first.start(order(job("at-1", "sh", "-c", script, slices=["sl-1"])))
    before = first.records["at-1"]
    await until(lambda: output(before) == "one\n")
    first.close()
    harm(before.folder)
    second = await make_runner()
    record = second.records["at-1"]
    assert (record.state, record.pid) == (WorkFound.RUNNING, before.pid)
    assert (record.workload, record.slices) == ("wl-at-1", ("sl-1",))
    assert abs(record.accepted - before.accepted) < 1.0
    (second._work_root / "at-1" / "files" / "go").touch()
    done = await ended(second)
    assert (done.exit_code, done.reason) == (5, ExitReason.OWN_ERROR)


async def test_an_end_while_the_agent_was_away_is_known_afterwards(make_runner):
    first = await make_runner()
    await first.start(order(job("at-1", "sh", "-c", "echo bye; sleep 0.2; exit 4")))
    folder = first.records["at-1"].folder
    first.close()
    await until((folder / "ended").exists)
    second = await make_runner()
    assert second.records["at-1"].exit_code == 4
    await second.start(order(job("at-1", "sh", "-c", "echo again")))
    assert output(second.records["at-1"]) == "bye\n"


async def test_an_adopted_attempt_can_be_stopped(make_runner):
    first = await make_runner()
    await first.start(order(job("at-1", "sleep", "600")))
    first.close()
    second = await make_runner()
    await second.stop("at-1", ExitReason.CANCELLED, 10.0)
    assert (await ended(second)).exit_code == -signal.SIGTERM


async def test_a_killed_shim_takes_its_job_along_and_the_end_is_known(runner):
    await runner.start(order(job("at-1", "sleep", "600")))
    record = runner.records["at-1"]
    os.kill(record.shim_pid, signal.SIGKILL)
    done = await ended(runner)
    assert (done.exit_code, done.reason) == (-9, ExitReason.KILLED)
    await runner.clean("at-1")
    assert not processes.alive(record.pid, record.pid_ticks)


async def test_a_shim_killed_while_the_agent_was_away_is_an_end_too(make_runner):
    first = await make_runner()
    await first.start(order(job("at-1", "sleep", "600")))
    record = first.records["at-1"]
    first.close()
    os.kill(record.shim_pid, signal.SIGKILL)
    await until(lambda: not processes.alive(record.shim_pid, record.shim_ticks))
    second = await make_runner()
    assert second.records["at-1"].reason == ExitReason.KILLED


async def test_an_agent_that_died_before_the_shim_took_the_attempt_leaves_it_to_the_next(
    make_runner,
):
    first = await make_runner()
    first._accepted(job("at-1", "echo", "ran"))
    first.close()
    second = await make_runner()
    assert second.records["at-1"].state == WorkFound.STARTING
    await second.start(order(job("at-1", "echo", "ran")))
    assert output(await ended(second)) == "ran\n"


async def test_two_agents_that_start_the_same_attempt_run_it_once(make_runner):
    first, second = await make_runner(), await make_runner()
    work = job("at-1", "sh", "-c", "echo ran; sleep 0.3")
    await first.start(order(work))
    second.records.clear()
    await second.start(order(work))
    assert output(await ended(second)) == "ran\n"
    assert second.records["at-1"].exit_code == 0
    assert first.records["at-1"].pid == second.records["at-1"].pid


async def test_a_restart_of_the_machine_ends_what_ran_on_it(make_runner):
    first = await make_runner()
    record = first._accepted(job("at-1", "sleep", "1"))
    record.boot = "another-boot"
    records.accept(record)
    claim = {"pid": os.getpid(), "ticks": 1, "boot": "another-boot"}
    records.disk.write_pairs(record.folder / "claim", claim)
    second = await make_runner()
    done = second.records["at-1"]
    assert done.reason == ExitReason.NODE_LOST
    second.cleaned("at-1")
    assert done.held_s is None


async def test_a_strangers_process_is_neither_adopted_nor_touched(make_runner, folders):
    stranger = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        runner = await make_runner()
        assert runner.records == {}
        await runner.start(order(job("at-1", "true")))
        await ended(runner)
        runner.records["at-1"].swept = False
        await runner.clean("at-1")
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


async def test_labels_that_another_account_wrote_make_no_attempt(make_runner, folders, monkeypatch):
    forged = records.Record("at-9", records.Path("x"), workload="wl-9")
    label = (await make_runner())._label
    job_of_another = subprocess.Popen(["sleep", "600"], env=labels(forged, label))
    ours = os.getuid()
    try:
        await until(
            lambda: (
                "GPUPOOL_SHIM"
                in dict(processes.labelled("GPUPOOL_SHIM")).get(job_of_another.pid, {})
            )
        )
        monkeypatch.setattr("nodeagent.runners.adoption.os.getuid", lambda: ours + 1)
        assert find(folders[0] / "work", label) == []
        monkeypatch.undo()
        assert [record.attempt for record in find(folders[0] / "work", label)] == ["at-9"]
    finally:
        job_of_another.kill()
        job_of_another.wait()


async def test_the_memory_of_other_accounts_is_not_read_for_what_is_left(make_runner, monkeypatch):
    runner = await make_runner()
    await runner.start(order(job("at-1", "sleep", "600")))
    record, home = runner.records["at-1"], runner.own[1] / "at-1"
    asked = []
    real = processes.labelled
    monkeypatch.setattr(processes, "labelled", lambda *given: asked.append(given) or real(*given))
    account = (home / "files").stat().st_uid
    assert leftovers(record, runner._label, home, shims_too=True)
    (home / "files").rename(home / "moved")
    leftovers(record, runner._label, home, shims_too=True)
    assert [given[1] for given in asked] == [{os.getuid(), account}, {os.getuid()}]
    assert not dict(processes.labelled("GPUPOOL_SHIM", {os.getuid() + 1}))


def test_the_account_of_a_process_that_is_gone_is_not_known():
    assert processes.real_uid(os.getpid()) == os.getuid()
    assert processes.real_uid(2**22 + 1) is None


async def test_an_attempt_of_the_same_name_of_another_agent_is_left_alone(make_runner, tmp_path):
    runner = await make_runner()
    await runner.start(order(job("at-1", "sleep", "600")))
    ours = runner.records["at-1"]
    stranger = records.Record("at-1", tmp_path)
    assert leftovers(stranger, str(tmp_path), tmp_path / "at-1", shims_too=True) == []
    home = runner._work_root / "at-1"
    assert ours.pid in leftovers(ours, runner._label, home, shims_too=False)
    assert ours.shim_pid in leftovers(ours, runner._label, home, shims_too=True)


def test_a_shims_labels_hold_no_secret_of_its_job():
    record = records.Record("at-1", records.Path("x"), workload="wl-1")
    assert not {key for key in labels(record, "n") if not key.startswith("GPUPOOL_")}
