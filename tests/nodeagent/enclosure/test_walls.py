"""What a node claims to keep apart it does keep apart; what it cannot, it does not claim."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from nodeagent.enclosure import enclosure, groups, hierarchy, trial
from nodeagent.enclosure.groups import Bounds, Groups
from nodeagent.protocol.desired import WantedWork
from nodeagent.protocol.inventory import Host
from nodeagent.protocol.vocabulary import Vendor, WorkloadKind, WorkWanted
from nodeagent.runners.base import Order
from nodeagent.runners.environment import tools_folder
from nodeagent.runners.process import ProcessRunner
from tests.nodeagent.waiting import until

HOST = Host(cpu_milli=1000, memory_mib=1, disk_mib=1, arch="x86_64")


@pytest.fixture(scope="module")
def tried():
    found = groups.found_for("trial", root=os.geteuid() == 0)
    return trial.try_all(found)


@pytest.fixture
def runner(tried):
    """A runner whose folders are not below the temporary ones, so that those can be private."""
    root = Path(tempfile.mkdtemp(dir="/var/lib", prefix="gpupool-test-"))
    root.chmod(0o711)
    work = root / "work"
    work.mkdir(mode=0o711)
    tools = tools_folder(work, ("/usr/bin/python3", "/usr/local/bin/python3"))
    kept = enclosure.build(str(root), tried)
    made = ProcessRunner(root / "state", work, tools, enclosed=kept)
    made.records_root = root
    yield made
    for record in made.records.values():
        kept.release(record.folder.name)
    made.close()
    shutil.rmtree(root)


def wanted(attempt, uid, script, memory_mib=512):
    return WantedWork(
        attempt=attempt,
        workload=f"wl-{attempt}",
        number=1,
        kind=WorkloadKind.JOB,
        wanted=WorkWanted.RUN,
        slices=(),
        account=f"uid:{uid}",
        command=("sh", "-c", script),
        memory_mib=memory_mib,
        cpu_milli=1000,
        grace_s=1,
    )


async def begun(runner, work):
    order = Order(work, (), Vendor.OTHER, 300.0, 0.0)
    runner.records or await runner.adopt()
    await runner.start(order)
    return runner.records[work.attempt]


async def said(runner, record):
    await until(lambda: record.ended_at is not None, "the end")
    body = b"".join(file.read_bytes() for file in sorted(record.folder.glob("log/*")))
    return body.decode()


@pytest.mark.asyncio
async def test_a_job_cannot_list_read_or_signal_another_tenants_job(runner, tried):
    secret = await begun(runner, wanted("at-a", 200001, "echo mine > $HOME/note; sleep 60"))
    home = runner.records_root / "work" / "at-a"
    spy = f"""
    ls /proc | grep -c '^{secret.pid}$'
    cat /proc/{secret.pid}/environ 2>&1 | tail -c 60
    kill -9 {secret.pid} 2>&1; echo kill $?
    cat {home}/files/note 2>&1; ls {home} 2>&1
    echo done
    """
    record = await begun(runner, wanted("at-b", 200002, spy))
    text = await said(runner, record)
    lines = text.splitlines()
    assert lines[-1] == "done"
    apart = lines[0] == "0" and "kill 1" in text and "mine" not in text
    assert apart or not tried.identity, text
    assert secret.ended_at is None or not tried.identity
    await runner.stop("at-a", secret.reason or "stopped", 0.0)
    await said(runner, secret)


TRACE = """
import ctypes, os, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
libc.ptrace.restype = ctypes.c_long
ATTACH, SEIZE, DETACH = 16, 0x4206, 17

class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]

def memory(pid, flags):
    try:
        with open(f"/proc/{pid}/mem", flags):
            return "open"
    except OSError:
        return "shut"

def vm(call, pid):
    here = ctypes.create_string_buffer(8)
    mine = Span(ctypes.cast(here, ctypes.c_void_p), 8)
    there = Span(ADDRESS, 8)
    got = getattr(libc, call)(pid, ctypes.byref(mine), 1, ctypes.byref(there), 1, 0)
    return "open" if got > 0 else "shut"

def tried(name, pid):
    ways = {
        "attach": lambda: libc.ptrace(ATTACH, pid, 0, 0),
        "seize": lambda: libc.ptrace(SEIZE, pid, 0, 0),
    }
    said = {}
    for way, call in ways.items():
        said[way] = "open" if call() == 0 else "shut"
        if said[way] == "open":
            if way == "attach":
                os.waitpid(pid, 0x40000000)
            libc.ptrace(DETACH, pid, 0, 0)
    said |= {"read": memory(pid, "rb"), "write": memory(pid, "r+b")}
    said |= {call: vm(call, pid) for call in ("process_vm_readv", "process_vm_writev")}
    print(name, *(f"{way}={what}" for way, what in sorted(said.items())), flush=True)

kept = ctypes.create_string_buffer(b"here", 8)
ADDRESS = ctypes.addressof(kept)
child = os.fork()
if not child:
    time.sleep(60)
    os._exit(0)
tried("own", child)
os.kill(child, 9)
tried("other", int(sys.argv[1]))
"""


@pytest.mark.asyncio
async def test_a_job_cannot_trace_another_tenants_job_nor_touch_its_memory(runner, tried):
    """Six ways in. That they work at all is seen on a process of the spy's own."""
    code = runner.records_root / "work" / "trace.py"
    code.write_text(TRACE)
    code.chmod(0o644)
    secret = await begun(runner, wanted("at-a", 200001, "exec sleep 60"))
    spy = await begun(runner, wanted("at-b", 200002, f"exec python3 {code} {secret.pid}"))
    own, other = (await said(runner, spy)).splitlines()
    assert own.startswith("own ") and own.count("=open") == 6, own
    apart = other.startswith("other ") and other.count("=shut") == 6
    assert apart or not tried.identity, other
    assert secret.ended_at is None
    await runner.stop("at-a", "stopped", 0.0)
    await said(runner, secret)


@pytest.mark.asyncio
async def test_temporary_folders_and_shared_memory_are_ones_own(runner, tried):
    write = "echo here > /tmp/gpupool-own; echo here > /dev/shm/gpupool-own; sleep 60"
    first = await begun(runner, wanted("at-a", 200001, write))
    own = runner.records_root / "work/at-a/tmp/gpupool-own"
    await until(lambda: own.exists() or not tried.identity)
    outside = [Path("/tmp/gpupool-own"), Path("/dev/shm/gpupool-own")]
    assert not any(path.exists() for path in outside) or not tried.identity
    look = await begun(runner, wanted("at-b", 200002, "ls /tmp/gpupool-own /dev/shm/gpupool-own"))
    assert (await said(runner, look)).count("No such file") == 2 or not tried.identity
    await runner.stop("at-a", "stopped", 0.0)
    await said(runner, first)


@pytest.mark.asyncio
async def test_a_job_opens_plain_devices_and_no_card_that_is_not_its_own(runner, tried):
    script = "echo plain > /dev/null; head -c 4 /dev/urandom | wc -c; cat /dev/kmsg | head -c 1"
    record = await begun(runner, wanted("at-a", 200001, script))
    text = await said(runner, record)
    assert text.splitlines()[0].strip() == "4"
    assert "kmsg: Operation not permitted" in text or not tried.fence


@pytest.mark.asyncio
async def test_a_job_over_its_memory_is_ended_by_the_kernel_and_it_alone(runner, tried):
    eat = "python3 -c \"x = bytearray(300 << 20); print('ate', len(x))\"; echo after"
    small = await begun(runner, wanted("at-small", 200001, eat, memory_mib=64))
    large = await begun(runner, wanted("at-large", 200002, eat, memory_mib=1024))
    assert "ate" not in await said(runner, small) or not tried.limits
    assert "ate" in await said(runner, large)


@pytest.mark.asyncio
async def test_what_hides_from_session_and_label_is_still_in_the_group_and_ends(runner):
    hide = "setsid env -i sh -c 'sleep 321.5 & sleep 321.5' & sleep 0.3"
    record = await begun(runner, wanted("at-a", 200001, hide))
    await said(runner, record)
    await runner.clean("at-a")
    listed = [p for p in Path("/proc").iterdir() if p.name.isdigit()]
    assert not [p for p in listed if b"321.5" in _command(p)]
    assert not list(Path("/sys/fs/cgroup").glob("*/gpupool/*/at-a"))


def _command(process):
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.asyncio
async def test_an_agent_that_comes_back_removes_groups_that_nobody_remembers(runner, tried):
    kept = runner._enclosure
    kept.walls("at-lost", enclosure.Asked(0, 64, ()))
    assert list(Path("/sys/fs/cgroup").glob("*/gpupool/*/at-lost")) or not tried.limits
    await asyncio.to_thread(kept.sweep, set())
    assert not list(Path("/sys/fs/cgroup").glob("*/gpupool/*/at-lost"))


@pytest.mark.asyncio
async def test_the_empty_folder_of_an_agent_that_was_killed_is_taken_away(runner, tried):
    found = hierarchy.read()
    killed = Groups("killed", found)
    busy = Groups("busy", found)
    if tried.limits:
        killed.make("at-gone", Bounds())
        busy.make("at-runs", Bounds())
        for folder in Path("/sys/fs/cgroup").glob(f"*/gpupool/{killed._owner}/at-gone"):
            folder.rmdir()
        assert list(Path("/sys/fs/cgroup").glob(f"*/gpupool/{killed._owner}"))
    await asyncio.to_thread(runner._enclosure.sweep, set())
    assert not list(Path("/sys/fs/cgroup").glob(f"*/gpupool/{killed._owner}"))
    assert list(Path("/sys/fs/cgroup").glob(f"*/gpupool/{busy._owner}/at-runs")) or not tried.limits
    if tried.limits:
        killed.make("at-again", Bounds())
        assert killed.remove("at-again") and busy.remove("at-runs")
        killed.close()
        busy.close()


def _can(*command):
    made = subprocess.run(command, capture_output=True, check=False)
    return os.geteuid() == 0 and made.returncode == 0


def _may_make(*controllers):
    roots = hierarchy.read().trees
    wanted = [roots.get(name) for name in controllers]
    return None not in wanted and all(_can("test", "-w", root) for root in wanted)


def test_the_trial_finds_what_the_machines_own_programs_find(tried):
    """Asked another way, so that a trial that always says no cannot hide every other failure."""
    hides = _can("unshare", "--mount", "--ipc", "mount", "-t", "proc", "proc", "/proc")
    assert tried.identity is hides
    assert tried.limits is _may_make("cpu", "memory")
    assert tried.fence or not _may_make("devices")


def test_what_was_not_tried_with_success_is_not_claimed(tried):
    missing = (tried.identity, tried.fence, tried.limits).count(False)
    assert len(tried.notes) >= min(missing, 1)
    assert enclosure.build("x", tried).claims(HOST).fence is tried.fence
    bare = enclosure.none().claims(HOST)
    assert (bare.identity, bare.fence) == (False, False)


def test_a_node_whose_own_folders_lie_below_tmp_says_that_it_is_shared(tried):
    told = enclosure.build("x", tried).claims(HOST, (Path("/tmp/work"),))
    assert (enclosure.SHARED_TEMPORARY in told.notes) is tried.identity
    assert enclosure.SHARED_TEMPORARY not in enclosure.build("x", tried).claims(HOST).notes


@pytest.mark.asyncio
async def test_no_program_lifts_a_job_out_of_its_account(runner):
    record = await begun(runner, wanted("at-a", 200001, "grep NoNewPrivs /proc/self/status"))
    assert (await said(runner, record)).split() == ["NoNewPrivs:", "1"]


def test_without_anything_that_fences_devices_the_trial_says_so():
    nothing = groups.Groups("none", hierarchy.Hierarchy({}))
    told = trial.try_all(nothing)
    assert not told.fence
    assert not told.limits
    assert any("devices" in note for note in told.notes)


def test_a_device_program_of_version_two_fences_as_the_list_of_version_one_does():
    found = hierarchy.read()
    second = groups.Groups("v2", hierarchy.Hierarchy({}, found.unified))
    told = trial.try_all(second)
    second.close()
    assert told.fence or found.unified is None or any("devices" in note for note in told.notes)


def test_processors_beside_a_card_are_read_from_the_kernels_list(tmp_path):
    node = tmp_path / "node1"
    node.mkdir()
    (node / "cpulist").write_text("0-1,900\n", encoding="ascii")
    here = os.sched_getaffinity(0)
    assert enclosure.processors((1,), tmp_path) == {0, 1} & here
    assert enclosure.processors((7,), tmp_path) == set()


def test_bounds_of_version_two_are_written_in_its_own_words(tmp_path):
    for name in ("", "gpupool", "gpupool/x", "gpupool/x/at-a"):
        (tmp_path / name).mkdir(exist_ok=True)
    found = hierarchy.Hierarchy({"cpu": tmp_path, "memory": tmp_path}, tmp_path)
    made = groups.Groups("own", found)
    made.make("at-a", Bounds(cpu_milli=1500, memory_mib=64))
    folder = next(tmp_path.glob("gpupool/*/at-a/cpu.max")).parent
    assert (folder / "cpu.max").read_text() == "150000 100000"
    assert (folder / "memory.max").read_text() == str(64 * 2**20)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu +memory"
