"""What a job leaves in memory that all of a machine share is taken away between two tenants."""

import ctypes
import mmap
import os
import subprocess
from pathlib import Path

import pytest

from nodeagent import processes, records
from nodeagent.protocol.vocabulary import Vendor
from nodeagent.records import Record
from nodeagent.runners import leftovers
from nodeagent.runners.base import Order
from tests.nodeagent.fake_portal import job
from tests.nodeagent.waiting import until

UID = 200123
OTHER = 200124
KEY = 0x6770
LEAVE = f"""
import ctypes, os, sys
libc = ctypes.CDLL(None)
made = [libc.shmget({KEY}, 3 << 20, 0o1600), libc.semget({KEY}, 2, 0o1600)]
made += [libc.msgget({KEY}, 0o1600)]
os.makedirs("/dev/shm/gpupool-left/deep", exist_ok=True)
open("/dev/shm/gpupool-left/deep/data", "wb").write(b"x" * (2 << 20))
open("/dev/shm/gpupool-left\\n\\x1b[31m", "wb").close()
print(*made, flush=True)
if sys.argv[1:]:
    sys.stdin.read()
"""
ROOT = os.geteuid() == 0
PYTHON = "/usr/bin/python3"
"""One that every account may run."""


def as_account(uid, *words, **more):
    return subprocess.Popen(
        [PYTHON, "-c", LEAVE, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **({"user": uid, "group": uid} if ROOT else {}),
        **more,
    )


def there(made):
    """Which of the three System V things and of the files are still there."""
    tables = (("shm", 1), ("sem", 1), ("msg", 1))
    ids = [
        int(line.split()[column]) == number
        for (table, column), number in zip(tables, made, strict=True)
        for line in Path(f"/proc/sysvipc/{table}").read_text().splitlines()[1:]
        if int(line.split()[column]) == number
    ]
    return len(ids), len(list(Path("/dev/shm").glob("gpupool-left*")))


@pytest.fixture
def left(monkeypatch):
    """An account whose process made all kinds of things and ended: their numbers. Without root it
    is the test's own account, of which only what was made here is looked at."""
    uid = UID if ROOT else os.geteuid()
    if not ROOT:
        monkeypatch.setattr(leftovers, "_alive", lambda uid: [])
        monkeypatch.setattr(leftovers.os, "getuid", lambda: 0)
    process = as_account(uid)
    made = [int(word) for word in process.communicate(timeout=60)[0].split()]
    yield uid, made
    libc = ctypes.CDLL(None)
    libc.shmctl(made[0], 0, None), libc.semctl(made[1], 0, 0), libc.msgctl(made[2], 0, None)
    subprocess.run(["sh", "-c", "rm -rf /dev/shm/gpupool-left*"], check=True)


def test_segments_semaphores_queues_and_files_go_and_each_is_named(left):
    uid, made = left
    assert there(made) == (3, 2)
    said = "\n".join(leftovers.take(uid))
    assert there(made) == (0, 0)
    assert f"shared memory segment {made[0]} (3 MiB)" in said
    assert f"semaphore set {made[1]}" in said and f"message queue {made[2]}" in said
    assert "/dev/shm/gpupool-left/deep/data (2 MiB)" in said
    assert "/dev/shm/gpupool-left??[31m (0 bytes)" in said, "a name of a job is no command"
    assert leftovers.take(uid) == ()


def test_nothing_is_touched_while_anything_of_the_account_runs(left, monkeypatch):
    uid, made = left
    monkeypatch.setattr(leftovers, "_alive", lambda uid: [os.getpid()])
    assert leftovers.take(uid) == () and there(made) == (3, 2)


@pytest.mark.parametrize("uid", [None, 0, 999, 65534, os.getuid()])
def test_accounts_that_others_than_jobs_use_are_left_alone(left, uid, monkeypatch):
    monkeypatch.undo()
    assert leftovers.take(uid) == () and there(left[1]) == (3, 2)


def test_what_another_account_has_stays(left):
    assert leftovers.take(OTHER) == () and there(left[1]) == (3, 2)


def test_what_the_server_of_mps_has_mapped_stays_and_the_rest_goes(left, monkeypatch):
    uid, made = left
    held = "/dev/shm/gpupool-left/deep/data"
    monkeypatch.setattr(leftovers, "_alive", lambda uid: [77])
    monkeypatch.setattr(processes, "name", lambda pid: leftovers.SERVER)
    monkeypatch.setattr(leftovers, "_mapped", lambda pid: {held})
    said = leftovers.take(uid)
    assert there(made) == (0, 1) and Path(held).exists()
    assert not any(held in word for word in said)


def test_files_in_the_memory_of_a_process_are_known_by_name(tmp_path):
    file = tmp_path / "of mine"
    file.write_bytes(b"x")
    with file.open("rb") as body, mmap.mmap(body.fileno(), 1, prot=mmap.PROT_READ):
        assert str(file) in leftovers._mapped(os.getpid())
    assert str(file) not in leftovers._mapped(os.getpid())
    assert leftovers._mapped(2**22 + 1) == set()


def test_a_long_list_is_cut_with_its_number():
    assert leftovers.short(tuple("ab")) == ("a", "b")
    many = leftovers.short(tuple(str(n) for n in range(50)))
    assert len(many) == leftovers.MOST + 1 and many[-1] == "and 10 more"


async def test_what_was_found_after_an_end_is_in_the_report_and_outlives_the_agent(
    runner, make_runner
):
    """The job's child drops session, label and parent; its account keeps shared memory."""
    uid = UID if ROOT else os.geteuid()
    hide = f'setsid sh -c \'exec {PYTHON} -c "$0" stay\' "$LEAVE" </dev/null & sleep 0.2'
    work = job("at-1", "sh", "-c", hide, account=f"uid:{uid}", env={"LEAVE": LEAVE})
    await runner.start(Order(work, (), Vendor.OTHER, 300.0, 0.0))
    record = runner.records["at-1"]
    await until(lambda: record.ended_at is not None)
    await runner.clean("at-1")
    runner.removed("at-1", ("its memory was not looked at",))
    runner.removed("at-1", ("its memory was not looked at",))
    runner.cleaned("at-1")
    told = record.report()
    assert told.clean and told.removed.count("its memory was not looked at") == 1
    named = any("shared memory segment" in word for word in told.removed)
    assert named and any("/dev/shm/gpupool-left" in word for word in told.removed) or not ROOT
    assert not list(Path("/dev/shm").glob("gpupool-left*")) or not ROOT
    assert records.load(record.folder).removed == told.removed
    subprocess.run(["sh", "-c", "rm -rf /dev/shm/gpupool-left*"], check=True)


async def test_processes_that_the_agent_had_to_end_are_named(runner, folders):
    """An attempt whose shim was killed left a process behind: the agent ends it and says so."""
    child = subprocess.Popen(
        ["sleep", "600"],
        env={
            "GPUPOOL_ATTEMPT": "at-9",
            "GPUPOOL_MEMORY_FILE": str(folders[1] / "at-9/tmp/gpu_memory_mib"),
        },
    )
    record = Record("at-9", folders[0] / "work/at-9", ended_at=1.0)
    records.accept(record)
    runner.records["at-9"] = record
    await until(lambda: processes.command_line(child.pid)[:1] == ["sleep"])
    cleaning = runner.clean("at-9")
    await cleaning
    assert child.wait(timeout=30) == -9
    assert record.removed == (f"process sleep ({child.pid})",)
