"""What a job leaves in memory that all of a machine share is taken away between two tenants."""

import ctypes
import mmap
import os
import subprocess
from pathlib import Path

import pytest

from nodeagent import processes, records
from nodeagent.protocol.report import Origin
from nodeagent.protocol.vocabulary import Vendor
from nodeagent.records import Record
from nodeagent.runners import leftovers
from nodeagent.runners.base import Order
from tests.nodeagent.fake_portal import job
from tests.nodeagent.waiting import until

ROOT = os.geteuid() == 0
UID = 1_000_000 + os.getpid()
"""Nobody else's: tests of other checkouts and workers of this machine have theirs."""

OTHER = UID + 5_000_000
KEY = 0x67700000 + os.getpid()
PYTHON = "/usr/bin/python3"
"""One that every account may run."""

LEAVE = """
import ctypes, os, sys
key, place, *stay = sys.argv[1:]
libc = ctypes.CDLL(None)
new = 0o3600
made = [libc.shmget(int(key), 3 << 20, new), libc.semget(int(key), 2, new)]
made += [libc.msgget(int(key), new)]
os.makedirs(place + "/deep", exist_ok=True)
open(place + "/deep/data", "wb").write(b"x" * (2 << 20))
open(place + "\\n\\x1b[31m", "wb").close()
print(*made, flush=True)
if stay:
    sys.stdin.read()
"""
TABLES = ("shm", "sem", "msg")


def rows(table):
    """Rows of a System V table that a test of this worker made."""
    lines = Path(f"/proc/sysvipc/{table}").read_text().splitlines()
    signed = ctypes.c_int32(KEY).value
    return lines[0], [line for line in lines[1:] if int(line.split()[0]) in (KEY, signed)]


def there(place):
    """Which of the three System V things and of the files are still there."""
    return sum(len(rows(table)[1]) for table in TABLES), len(list(place.parent.glob("left-*")))


@pytest.fixture
def place(tmp_path):
    """What the test leaves and where; all of it goes afterwards. Root looks through the machine's
    own memory, of an account that only this test has; another account only through what is here.
    """
    at = (Path("/dev/shm") if ROOT else tmp_path) / f"left-{os.getpid()}"
    yield at
    libc = ctypes.CDLL(None)
    for table, words in zip(TABLES, ((0, None), (0, 0), (0, None)), strict=True):
        for row in rows(table)[1]:
            getattr(libc, f"{table}ctl")(int(row.split()[1]), *words)
    subprocess.run(["sh", "-c", f"rm -rf {at}*"], check=True)


@pytest.fixture
def take(place, tmp_path, monkeypatch):
    """`leftovers.take`, for one that is not root bounded to what the test made."""
    if ROOT:
        return leftovers.take
    monkeypatch.setattr(leftovers, "_alive", lambda uid: [])
    monkeypatch.setattr(leftovers.os, "getuid", lambda: 0)

    def bounded(uid):
        for table in TABLES:
            head, mine = rows(table)
            (tmp_path / table).write_text("\n".join((head, *mine)))
        return leftovers.take(uid, sysv=tmp_path, shared=(place.parent,))

    return bounded


@pytest.fixture
def left(place, take):
    """An account whose process made all kinds of things and ended: their numbers."""
    uid = UID if ROOT else os.geteuid()
    account = {"user": uid, "group": uid} if ROOT else {}
    words = [PYTHON, "-c", LEAVE, str(KEY), str(place)]
    made = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, **account)
    return uid, [int(word) for word in made.stdout.split()]


def test_segments_semaphores_queues_and_files_go_and_each_is_named(left, place, take):
    uid, made = left
    assert there(place) == (3, 2)
    said = "\n".join(take(uid))
    assert there(place) == (0, 0)
    assert f"shared memory segment {made[0]} (3 MiB)" in said
    assert f"semaphore set {made[1]}" in said and f"message queue {made[2]}" in said
    assert f"{place}/deep/data (2 MiB)" in said
    assert f"{place}??[31m (0 bytes)" in said, "a name of a job is no command"
    assert take(uid) == ()


def test_nothing_is_touched_while_anything_of_the_account_runs(left, place, take, monkeypatch):
    monkeypatch.setattr(leftovers, "_alive", lambda uid: [os.getpid()])
    assert take(left[0]) == () and there(place) == (3, 2)


@pytest.mark.parametrize("uid", [None, 0, 999, 65534, os.getuid()])
def test_accounts_that_others_than_jobs_use_are_left_alone(left, place, uid, monkeypatch):
    monkeypatch.undo()
    assert leftovers.take(uid) == () and there(place) == (3, 2)


def test_what_another_account_has_stays(left, place, take):
    assert take(OTHER) == () and there(place) == (3, 2)


def test_what_the_server_of_mps_has_mapped_stays_and_the_rest_goes(left, place, take, monkeypatch):
    held = f"{place}/deep/data"
    monkeypatch.setattr(leftovers, "_alive", lambda uid: [77])
    monkeypatch.setattr(processes, "name", lambda pid: leftovers.SERVER)
    monkeypatch.setattr(leftovers, "_mapped", lambda pid: {held})
    said = take(left[0])
    assert there(place) == (0, 1) and Path(held).exists()
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
    again = leftovers.short((*many, "a", "b"))
    assert len(again) == leftovers.MOST + 1 and again[-1] == "and 12 more"


async def test_what_was_found_after_an_end_is_in_the_report_and_outlives_the_agent(runner, place):
    """The job's child drops session, label and parent; its account keeps shared memory."""
    uid = UID if ROOT else os.geteuid()
    hide = f'setsid {PYTHON} -c "$LEAVE" {KEY} {place} stay </dev/null & sleep 0.2'
    work = job("at-1", "sh", "-c", hide, account=f"uid:{uid}", env={"LEAVE": LEAVE})
    origin = Origin(kind=work.kind, number=1, project="", account=work.account)
    await runner.start(Order(work, (), Vendor.OTHER, 300.0, 0.0, origin=origin))
    record = runner.records["at-1"]
    await until(lambda: record.ended_at is not None)
    await runner.clean("at-1")
    runner.removed("at-1", ("its memory was not looked at",))
    runner.removed("at-1", ("its memory was not looked at",))
    runner.cleaned("at-1")
    told = record.report()
    assert told.clean and told.removed.count("its memory was not looked at") == 1
    named = any("shared memory segment" in word for word in told.removed)
    assert named and any(str(place) in word for word in told.removed) or not ROOT
    assert there(place) == (0, 0) or not ROOT
    assert records.load(record.folder).removed == told.removed


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
