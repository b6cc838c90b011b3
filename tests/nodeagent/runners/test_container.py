"""Attempts in containers, against an engine whose containers outlive its command line."""

import asyncio
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from msgspec import structs

from nodeagent import processes
from nodeagent.drivers.nvml.strangers import strangers
from nodeagent.enclosure import enclosure
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import ExitReason, Mode, Silence, SliceFound, Vendor, WorkFound
from nodeagent.runners import container, inside
from nodeagent.runners.base import Order, StartFailed
from nodeagent.runners.container import Containers
from nodeagent.runners.environment import tools_folder
from nodeagent.runners.process import ProcessRunner
from nodeagent.telemetry import Telemetry
from tests.fakes import engine
from tests.nodeagent.drivers.test_nvml import OWNER
from tests.nodeagent.fake_portal import job
from tests.nodeagent.runners.test_process import ended, output
from tests.nodeagent.waiting import until

CARD = FoundSlice(
    uid="sl-1",
    card="GPU-1",
    mode=Mode.MIG,
    profile="3g.20gb",
    state=SliceFound.READY,
    memory_mib=19968,
    device="MIG-1",
)


@pytest.fixture
def program(tmp_path):
    return engine.install(tmp_path / "engine", "torch:2")


@pytest_asyncio.fixture
async def make_runner(folders, program, tmp_path):
    made = []

    async def make():
        state, work = folders
        containers = Containers(str(program), (tmp_path / "cdi",))
        tools = tools_folder(work, ("/usr/bin/python3",))
        runner = ProcessRunner(state, work, tools, containers=containers)
        await runner.adopt()
        made.append(runner)
        return runner

    yield make
    for runner in made:
        await asyncio.to_thread(runner.kill_everything)
        runner.close()


@pytest_asyncio.fixture
async def runner(make_runner):
    return await make_runner()


def order(*command, image="torch:2", slices=(), **changes):
    work = job("at-1", *command, runner="container", image=image, **changes)
    return Order(work, tuple(slices), Vendor.NVIDIA, 300.0, 0.0)


def call(program):
    return json.loads((program.parent / "calls").read_text().splitlines()[-1])


async def test_output_and_exit_code_are_those_of_the_container(runner):
    await runner.start(order("sh", "-c", "echo in $GPUPOOL_ATTEMPT; exit 7"))
    done = await ended(runner)
    assert (done.state, done.exit_code, done.reason) == (
        WorkFound.EXITED,
        7,
        ExitReason.OWN_ERROR,
    )
    assert output(done) == "in at-1\n"


async def test_a_secret_stands_in_no_argument_and_a_job_sets_nothing_for_the_engine(
    runner, program
):
    given = {"TOKEN": "s3cret", "LD_PRELOAD": "evil.so", "DOCKER_HOST": "tcp://evil"}
    await runner.start(order("sh", "-c", "echo $TOKEN", env=given))
    done = await ended(runner)
    told = call(program)
    assert output(done).endswith("s3cret\n")
    assert "s3cret" not in json.dumps(told["argv"])
    assert not {"TOKEN", "LD_PRELOAD", "DOCKER_HOST"} & told["own"].keys()
    assert not [f for f in done.folder.rglob("*") if f.is_file() and b"s3cret" in _body(f)]


def _body(file):
    return b"" if "log" in file.parts else file.read_bytes()


async def test_bounds_account_and_privileges_are_told_to_the_engine(runner, program):
    await runner.start(order("true", memory_mib=2048, cpu_milli=1500))
    await ended(runner)
    words = call(program)["argv"]
    text = " ".join(words)
    for part in ("--memory 2048m", "--cpus 1.5", "--cap-drop ALL", "no-new-privileges"):
        assert part in text
    assert words[words.index("--user") + 1].split(":")[0].isdigit()
    assert words[words.index("--pull") + 1] == "never"


async def test_limits_and_the_processors_beside_its_cards_bind_what_runs_inside(
    runner, program, tmp_path, monkeypatch
):
    (tmp_path / "node3").mkdir()
    one = min(os.sched_getaffinity(0))
    (tmp_path / "node3/cpulist").write_text(f"{one}\n")
    monkeypatch.setattr(enclosure, "NUMA", tmp_path)
    await runner.start(replace(order("true", disk_mib=7), numa=(3,)))
    await ended(runner)
    words = call(program)["argv"]
    assert words[words.index("--cpuset-cpus") + 1] == str(one)
    given = {words[n + 1] for n, word in enumerate(words) if word == "--ulimit"}
    assert given == {f"fsize={7 << 20}:{7 << 20}", "core=0:0", "nofile=65536:65536"}
    assert "--cpuset-cpus" not in container._bounds(order("true"))


@pytest.mark.parametrize(
    ("said", "pinned"),
    [
        ({"CPUSet": True}, True),
        ({"CPUSet": False}, False),
        ({"host": {"cgroupControllers": ["cpuset", "cpu", "memory", "pids"]}}, True),
        ({"host": {"cgroupControllers": ["memory", "pids"]}}, False),
        ({"host": {"cgroupControllers": None}}, False),
        ([], False),
        (None, False),
    ],
)
async def test_work_is_pinned_only_where_its_engine_can(
    runner, program, tmp_path, monkeypatch, said, pinned
):
    """A rootless engine was most often given no controller of processors, and refuses the word."""
    (tmp_path / "node3").mkdir()
    (tmp_path / "node3/cpulist").write_text(f"{min(os.sched_getaffinity(0))}\n")
    monkeypatch.setattr(enclosure, "NUMA", tmp_path)
    (program.parent / "info").write_text(json.dumps(said) if said is not None else "no answer")
    await runner.start(replace(order("true"), numa=(3,)))
    await ended(runner)
    assert ("--cpuset-cpus" in call(program)["argv"]) == pinned


def test_limits_of_an_engine_without_root_stay_within_its_own(monkeypatch):
    monkeypatch.setattr(container.resource, "getrlimit", lambda which: (1024, 4096))
    monkeypatch.setattr(container.os, "geteuid", lambda: 1000)
    words = container._bounds(order("true", disk_mib=7))
    assert {"fsize=4096:4096", "core=0:0", "nofile=4096:4096"} <= set(words)
    monkeypatch.setattr(container.resource, "getrlimit", lambda which: (1024, -1))
    assert "nofile=65536:65536" in container._bounds(order("true"))
    monkeypatch.setattr(container.resource, "getrlimit", lambda which: (1024, 4096))
    monkeypatch.setattr(container.os, "geteuid", lambda: 0)
    assert "nofile=65536:65536" in container._bounds(order("true")), "root's engine may raise it"


SHARE = structs.replace(CARD, mode=Mode.MPS, profile="share", device="GPU-1")


def volumes(words):
    return [words[n + 1] for n, word in enumerate(words) if word == "--volume"]


async def test_a_share_of_mps_reaches_its_daemon_from_inside(runner, program, tmp_path):
    """The slice's own folder is a link to the daemon's; what is mounted is what it leads to."""
    pipe, link = tmp_path / "pipe", tmp_path / "slices" / "sl-1"
    pipe.mkdir()
    (pipe / "control").touch()
    link.parent.mkdir()
    link.symlink_to(pipe)
    told = {"CUDA_MPS_PIPE_DIRECTORY": str(link), "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "25"}
    script = "ls $CUDA_MPS_PIPE_DIRECTORY; echo $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
    await runner.start(replace(order("sh", "-c", script, slices=(SHARE,)), told=told))
    assert output(await ended(runner)) == "control\n25\n"
    words = call(program)["argv"]
    assert f"{pipe}:{link}" in volumes(words)
    assert words[words.index("--ipc") + 1] == "host" and "--shm-size" not in words


async def test_a_time_slice_has_the_library_that_keeps_it_and_its_notes_inside(
    runner, program, tmp_path
):
    library, notes = tmp_path / "libvgpu.so", tmp_path / "hami/sl-1.cache"
    told = {"LD_PRELOAD": str(library), "CUDA_DEVICE_MEMORY_SHARED_CACHE": str(notes)}
    job = replace(order("true", slices=(structs.replace(SHARE, mode=Mode.TIMESLICE),)), told=told)
    await runner.start(job)
    await ended(runner)
    said = call(program)
    assert f"{library}:{library}:ro" in volumes(said["argv"])
    assert f"{notes.parent}:{notes.parent}" in volumes(said["argv"])
    assert said["env"]["LD_PRELOAD"] == str(library) and "LD_PRELOAD" not in said["own"]
    assert said["argv"][said["argv"].index("--ipc") + 1] == "private"


async def test_what_a_job_says_itself_mounts_nothing(runner, program):
    """It may name a library inside its image; no file of the host comes in by that."""
    names = ("CUDA_MPS_PIPE_DIRECTORY", "LD_PRELOAD", "CUDA_DEVICE_MEMORY_SHARED_CACHE")
    await runner.start(order("true", env={**dict.fromkeys(names, "/etc/shadow")}))
    await ended(runner)
    assert not [one for one in volumes(call(program)["argv"]) if "/etc" in one]


async def test_cards_are_named_as_the_node_describes_them(runner, program, tmp_path):
    await runner.start(order("true", slices=(CARD,)))
    await ended(runner)
    assert '--gpus "device=MIG-1"' in " ".join(call(program)["argv"])
    (tmp_path / "cdi").mkdir()
    (tmp_path / "cdi" / "nvidia.yaml").write_text("kind: nvidia.com/gpu\n")
    words = runner._containers._devices(order("true", slices=(CARD,)))
    assert words == ["--device", "nvidia.com/gpu=MIG-1"]


async def test_an_image_that_is_not_here_is_fetched_first(runner, program):
    await runner.start(order("echo", "hello", image="fresh:1"))
    assert output(await ended(runner)) == "hello\n"
    assert (program.parent / "image-fresh:1").exists()


@pytest.mark.parametrize(
    ("image", "words"),
    [("unknown:1", "manifest unknown"), ("--privileged", "not the name of an image")],
)
async def test_a_start_without_its_image_fails_with_the_reason(runner, image, words):
    await runner.start(order("true", image=image))
    done = await ended(runner)
    assert words in done.message
    assert (done.state, done.reason) == (WorkFound.REFUSED, ExitReason.START_FAILED)


async def test_a_pull_that_never_ends_shows_its_progress_and_is_called_off_within_seconds(runner):
    await runner.start(order("true", image="slow:1"))
    record = runner.records["at-1"]
    assert record.begun, "nobody pulls it twice"
    await until(lambda: "layer 1 of 2" in record.message, "the progress")
    await runner.stop("at-1", ExitReason.CANCELLED, 30.0)
    assert record.ended_at is not None
    await until(lambda: not record.pulling, "the end of the pull")
    assert record.reason == ExitReason.CANCELLED
    await runner.stop("at-1", ExitReason.CANCELLED, 30.0)
    await runner.clean("at-1")


async def test_a_pull_has_the_time_of_the_start_and_no_more(runner):
    await runner.start(order("true", image="slow:1", start_limit_s=1))
    assert "did not come within 1 s" in (await ended(runner)).message


async def test_a_job_without_a_card_sees_none_whatever_its_image_says(runner, program):
    await runner.start(order("true"))
    await ended(runner)
    told = call(program)["env"]
    assert told["NVIDIA_VISIBLE_DEVICES"] == "void"
    assert told["CUDA_VISIBLE_DEVICES"] == ""
    (program.parent / "calls").unlink()


async def test_a_stop_reaches_the_job_inside(runner):
    trap = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done"
    await runner.start(order("sh", "-c", trap))
    record = runner.records["at-1"]
    await until(lambda: "up" in output(record))
    await runner.stop("at-1", ExitReason.STOPPED, 10.0)
    assert "bye" in output(await ended(runner))


async def test_a_container_whose_command_line_was_killed_is_removed_before_it_is_clean(
    runner, program
):
    await runner.start(order("sh", "-c", "trap '' TERM; while :; do sleep 0.2; done"))
    record = runner.records["at-1"]
    kept = program.parent / "container-gpupool-at-1"
    inside = int(await until(lambda: kept.exists() and kept.read_text()))
    await runner.stop("at-1", ExitReason.STOPPED, 0.0)
    await ended(runner)
    await runner.clean("at-1")
    assert not kept.exists()
    assert not _lives(inside)
    assert record.ended_at is not None


def _lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


async def test_the_fence_stops_a_container_that_does_not_listen_though_no_agent_is_there(
    runner, program
):
    deaf = order("sh", "-c", "trap '' TERM; while :; do sleep 0.2; done", grace_s=1)
    deaf = replace(deaf, work=structs.replace(deaf.work, silence=Silence.REQUEUE), fence_s=1.0)
    await runner.start(deaf)
    kept = program.parent / "container-gpupool-at-1"
    inside = int(await until(lambda: kept.exists() and kept.read_text()))
    runner.close()
    await until(lambda: not _lives(inside), "the fence")
    ended_file = runner.records["at-1"].folder / "ended"
    await until(ended_file.exists, "the end")
    assert "swept=yes" in ended_file.read_text()


async def test_a_restarted_agent_takes_a_running_container_over(runner, make_runner):
    await runner.start(order("sh", "-c", "sleep 1.5; exit 4"))
    runner.close()
    second = await make_runner()
    assert second.records["at-1"].container
    assert (await ended(second)).exit_code == 4


async def test_a_value_of_several_lines_is_refused_with_its_name(runner):
    with pytest.raises(StartFailed, match="KEYS must be one line"):
        await runner.start(order("true", env={"KEYS": "a\nb"}))


def test_an_engine_counts_only_when_its_service_answers(program):
    path = str(program.parent)
    assert container.engine(path) == str(program)
    (program.parent / "running").unlink()
    assert container.engine(path) == ""


BOX = "ab" * 32


@pytest.fixture
def boxed(monkeypatch):
    """Processes that an engine hung below its own daemon, each in its container's group."""
    told = {}
    real = processes.groups
    monkeypatch.setattr(processes, "groups", lambda pid: told.get(pid) or real(pid))
    return told


async def test_what_runs_in_its_container_is_measured_as_its_own(runner, boxed):
    await runner.start(order("sleep", "600"))
    record = runner.records["at-1"]
    far = subprocess.Popen(["sleep", "600"])
    try:
        telemetry = Telemetry()
        assert far.pid not in telemetry.usage([record])["at-1"].pids
        boxed[far.pid] = f"0::/system.slice/docker-{BOX}.scope\n"
        assert far.pid not in telemetry.usage([record])["at-1"].pids
        (record.folder / inside.FILE).write_text(BOX)
        assert far.pid in telemetry.usage([record])["at-1"].pids
    finally:
        far.kill()
        far.wait()


async def test_what_runs_in_its_container_is_no_stranger_on_its_card(runner, boxed):
    await runner.start(order("sleep", "600"))
    record = runner.records["at-1"]
    far, other = (subprocess.Popen(["sleep", "600"]) for _ in range(2))
    boxed[far.pid] = f"5:devices:/docker/{BOX}\n4:cpu:/docker/{BOX}\n"
    boxed[other.pid] = f"0::/docker/{'cd' * 32}\n"
    try:
        assert len(strangers([far.pid, other.pid])) == 2
        (record.folder / inside.FILE).write_text(BOX)
        assert strangers([far.pid, other.pid]) == (f"sleep ({other.pid}){OWNER}",)
    finally:
        for one in (far, other):
            one.kill()
            one.wait()


async def test_the_engine_writes_the_number_where_no_job_can(runner, program):
    await runner.start(order("true"))
    await ended(runner)
    words = call(program)["argv"]
    record = runner.records["at-1"]
    assert words[words.index("--cidfile") + 1] == str(record.folder / inside.FILE)


@pytest.mark.parametrize("said", ["", "x" * 64, BOX[:-1], BOX + "a"])
def test_a_file_without_a_number_names_no_container(tmp_path, said):
    (tmp_path / "container").write_text(said)
    assert inside.number_in(tmp_path / "container") == ""
    assert inside.number_in(tmp_path / "missing") == ""
    assert inside.container_of(os.getpid(), frozenset({BOX})) == ""
