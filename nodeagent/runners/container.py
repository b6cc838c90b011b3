"""Attempts in containers: the same shim runs the engine's command line in the foreground.

`docker run` or `podman run` stays a child of the shim, so that output, exit code and stop signal
take the way they take for a process. The job's environment goes to the engine through an open
descriptor: in an argument or a file others could read it, and in the environment of the command
line itself, which runs as root, a job could name a library to load.
"""

import asyncio
import contextlib
import json
import os
import re
import resource
import shutil
import subprocess
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from nodeagent.enclosure.enclosure import processors
from nodeagent.protocol.desired import WantedWork
from nodeagent.protocol.vocabulary import Mode, Vendor
from nodeagent.records import Record
from nodeagent.runners.accounts import Account
from nodeagent.runners.base import Order
from nodeagent.runners.staging import Laid

ENGINES = ("docker", "podman")
ANSWER_S = 15.0
REMOVE_S = 60.0
PIDS = 8192
LIMITS = {"nofile": 65536, "core": 0}
MIB = 1024 * 1024
PROGRESS_CHARACTERS = 200
TOLD_FD = 4
"""Where a shim holds what its command shall read and nobody else."""

CDI = (Path("/etc/cdi"), Path("/var/run/cdi"))
CDI_KINDS = {
    Vendor.NVIDIA: "nvidia.com/gpu",
    Vendor.AMD: "amd.com/gpu",
    Vendor.ASCEND: "huawei.com/npu",
}
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}")
"""No image begins with a dash: it would be read as an option."""


class PullFailed(Exception):
    """The image could not be fetched, or fetching it was called off."""


def engine(path: str | None = None) -> str:
    """The first engine whose service answers; empty when there is none. Blocks."""
    for name in ENGINES:
        found = shutil.which(name, path=path)
        if found is not None and _answers([found, "info"]):
            return found
    return ""


def _answers(command: list[str]) -> bool:
    try:
        made = subprocess.run(command, capture_output=True, timeout=ANSWER_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return made.returncode == 0


class Containers:
    """The containers of one agent, each named after its attempt's folder."""

    def __init__(self, program: str, cdi: tuple[Path, ...] = CDI) -> None:
        self.program = program
        self._cdi = cdi
        self._pulls: dict[str, asyncio.subprocess.Process] = {}
        self._pins: bool | None = None

    async def has(self, image: str) -> bool:
        """Whether the image is here; one whose name is none never is."""
        inspect = [self.program, "image", "inspect", image]
        return bool(IMAGE.fullmatch(image)) and await asyncio.to_thread(_answers, inspect)

    async def pull(self, record: Record, work: WantedWork) -> None:
        """Fetch the image, its progress in the attempt's message.

        Raises:
            PullFailed: bad name, unknown image, too slow, or the attempt was stopped meanwhile.
        """
        if not IMAGE.fullmatch(work.image):
            raise PullFailed(f"{work.image!r} is not the name of an image")
        pull = await asyncio.create_subprocess_exec(
            self.program,
            "pull",
            work.image,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        self._pulls[record.attempt] = pull
        try:
            async with asyncio.timeout(float(work.start_limit_s)):
                await self._follow(pull, record)
        except TimeoutError:
            raise PullFailed(f"the image did not come within {work.start_limit_s} s") from None
        finally:
            self._pulls.pop(record.attempt, None)
            await _end(pull)

    async def _follow(self, pull: asyncio.subprocess.Process, record: Record) -> None:
        """Keep the last line that it says."""
        last = ""
        while pull.stdout is not None and (line := await _line(pull.stdout)):
            last = line.decode("utf-8", "replace").strip()[-PROGRESS_CHARACTERS:] or last
            record.message = f"pulling the image: {last}"
        code = await pull.wait()
        record.message = ""
        if code != 0:
            raise PullFailed(f"the image cannot be pulled: {last or f'exit code {code}'}")

    def cancel(self, attempt: str) -> None:
        """Call a running pull off; its start then ends by itself."""
        pull = self._pulls.get(attempt)
        if pull is not None:
            with contextlib.suppress(ProcessLookupError):
                pull.kill()

    def command(
        self,
        name: str,
        order: Order,
        account: Account,
        home: Path,
        shares_ipc: bool,
        laid: Iterable[Laid] = (),
        number: Path | None = None,
    ) -> list[str]:
        """The command line that runs this attempt in the foreground.

        Into the file `number` the engine writes the container's own number before it begins.
        """
        work = order.work
        words = [self.program, "run", "--rm", "--init", "--pull", "never", "--name", name]
        words += ["--label", f"gpupool.attempt={work.attempt}", "--network", "host"]
        if number is not None:
            words += ["--cidfile", str(number)]
        words += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
        words += ["--pids-limit", str(PIDS), "--ipc", "host" if shares_ipc else "private"]
        if not shares_ipc:
            words += ["--shm-size", f"{max(work.memory_mib // 2, 64)}m"]
        if work.memory_mib:
            words += ["--memory", f"{work.memory_mib}m"]
        if work.cpu_milli:
            words += ["--cpus", f"{work.cpu_milli / 1000:g}"]
        near = processors(order.numa)
        words += _bounds(order, near if near and self._can_pin() else frozenset())
        words += ["--volume", f"{home}:{home}", "--workdir", str(home / "files")]
        for one in laid:
            kept = ":ro" if one.read_only else ""
            words += ["--volume", f"{one.source}:{home / one.at}{kept}"]
        words += _served(order.told)
        words += self._account(account) + self._devices(order)
        words += ["--env-file", f"/proc/self/fd/{TOLD_FD}"]
        return [*words, work.image, *work.command]

    def _can_pin(self) -> bool:
        """Whether the engine can keep work to some processors; one without root most often cannot,
        and refuses what asks for it. Asked once; one that does not answer is asked again. Blocks.
        """
        if self._pins is None:
            asked = [self.program, "info", "--format", "{{json .}}"]
            with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
                made = subprocess.run(asked, capture_output=True, timeout=ANSWER_S, check=True)  # noqa: S603
                self._pins = _pins(json.loads(made.stdout))
        return bool(self._pins)

    def undo(self, name: str) -> list[str]:
        """What the shim runs at the end, bounded in time: a container outlives a killed client."""
        limit = shutil.which("timeout")
        words = [self.program, "rm", "--force", name]
        return words if limit is None else [limit, "-k", "5", f"{REMOVE_S:g}", *words]

    @staticmethod
    def shown() -> dict[str, str]:
        """Images carry `NVIDIA_VISIBLE_DEVICES=all`, and a vendor's runtime hook obeys it.

        Where the job's own slices do not say otherwise, the hook is told to show nothing.
        """
        return {"NVIDIA_VISIBLE_DEVICES": "void", "ASCEND_VISIBLE_DEVICES": "void"}

    @staticmethod
    def told(env: dict[str, str]) -> bytes:
        """The environment as the engine reads it, a line each.

        Raises:
            ValueError: a value of several lines, which engines cannot take.
        """
        long = [key for key, value in env.items() if "\n" in value or "\n" in key]
        if long:
            raise ValueError(f"in a container {long[0]} must be one line")
        return "".join(f"{key}={value}\n" for key, value in sorted(env.items())).encode()

    def _account(self, account: Account) -> list[str]:
        uid = os.getuid() if account.uid is None else account.uid
        gid = os.getgid() if account.gid is None else account.gid
        groups = [word for one in account.groups for word in ("--group-add", str(one))]
        return ["--user", f"{uid}:{gid}", *groups]

    def _devices(self, order: Order) -> list[str]:
        """By the names of the Container Device Interface where the node describes its cards so."""
        names = [one.device for one in order.slices if one.device]
        kind = CDI_KINDS.get(order.vendor)
        if names and kind is not None and self._describes(kind):
            return [word for one in names for word in ("--device", f"{kind}={one}")]
        if names and order.vendor == Vendor.NVIDIA and not _soft(order):
            return ["--gpus", f'"device={",".join(names)}"']
        return [word for path in order.devices for word in ("--device", path)]

    def _describes(self, kind: str) -> bool:
        files = (file for folder in self._cdi for file in folder.glob("*"))
        return any(kind in file.read_text(encoding="utf-8", errors="replace") for file in files)

    def remove(self, name: str) -> bool:
        """Take the container away whatever it does; true when none is left. Blocks."""
        if not self.program:
            return True
        gone = [self.program, "container", "inspect", name]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(  # noqa: S603
                self.undo(name),
                capture_output=True,
                timeout=REMOVE_S,
                check=False,
            )
        return not _answers(gone)


def _bounds(order: Order, near: Collection[int] = ()) -> list[str]:
    """Limits that a process gets from its shim, and the processors beside its cards: what binds the
    engine's command line does not bind what runs inside.
    """
    limits = dict(LIMITS)
    if order.work.disk_mib:
        limits["fsize"] = order.work.disk_mib * MIB
    tops = {name: _within(name, top) for name, top in limits.items()}
    words = [word for name, top in tops.items() for word in ("--ulimit", f"{name}={top}:{top}")]
    return [*words, "--cpuset-cpus", ",".join(map(str, sorted(near)))] if near else words


def _within(name: str, top: int) -> int:
    """An engine that is not root's cannot raise a limit beyond its own, and would start nothing."""
    hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
    return top if os.geteuid() == 0 or hard == resource.RLIM_INFINITY else min(top, hard)


def _pins(said: object) -> bool:
    """Whether an engine's own description names the controller of processors: docker's by a word
    of its own, podman's among those that it was given.
    """
    if not isinstance(said, dict):
        return False
    host = said.get("host")
    given = host.get("cgroupControllers") if isinstance(host, dict) else None
    return bool(said.get("CPUSet")) or "cpuset" in (given or ())


def _served(told: Mapping[str, str]) -> list[str]:
    """What the words of a slice's driver and of the agent name on the host is there under the same
    name. A job's own environment names nothing: it is not among these words.
    """
    words: list[str] = []
    if pipe := told.get("CUDA_MPS_PIPE_DIRECTORY"):
        words += ["--volume", f"{os.path.realpath(pipe)}:{pipe}"]
    if preload := told.get("LD_PRELOAD"):
        words += ["--volume", f"{preload}:{preload}:ro"]
    if notes := told.get("CUDA_DEVICE_MEMORY_SHARED_CACHE"):
        words += ["--volume", f"{Path(notes).parent}:{Path(notes).parent}"]
    if socket := told.get("GPUPOOL_THROUGHPUT_SOCKET"):
        words += ["--volume", f"{Path(socket).parent}:{Path(socket).parent}:ro"]
    return words


def _soft(order: Order) -> bool:
    return any(one.mode not in (Mode.WHOLE, Mode.MIG) for one in order.slices)


async def _line(stream: asyncio.StreamReader) -> bytes:
    """A line, or a piece of one that has no end: progress bars turn on one line."""
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as rest:
        return rest.partial
    except asyncio.LimitOverrunError as long:
        return await stream.readexactly(long.consumed)


async def _end(pull: asyncio.subprocess.Process) -> None:
    """No pull outlives its start."""
    if pull.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            pull.kill()
        await pull.wait()
