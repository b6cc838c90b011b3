"""What this machine can really keep apart: each wall is tried at the start, not believed."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nodeagent import walls
from nodeagent.enclosure.groups import Bounds, Groups

TRIAL_S = 10.0
PROBE = "try-{what}-{pid}"
DENIED = ("read _; exec 3</dev/net/tun", "read _; exec 3</dev/kmsg")
ALLOWED = "read _; exec 3</dev/null"


@dataclass(frozen=True)
class Tried:
    """What held when it was tried. `notes` say in words what did not, and why it matters."""

    identity: bool
    fence: bool
    limits: bool
    notes: tuple[str, ...] = ()


def try_all(groups: Groups, source: Path = Path(walls.__file__)) -> Tried:
    """Try accounts, the view of others' processes, bounds and the device fence. Blocks."""
    if os.geteuid() != 0:
        why = "jobs share the account of the agent: it does not run as root"
        return Tried(identity=False, fence=False, limits=False, notes=(why,))
    notes: list[str] = []
    identity = _held(notes, "jobs can see each other's processes", lambda: _hidden(source))
    unbounded = "processors and memory of jobs are not bounded by the kernel"
    limits = _held(notes, unbounded, lambda: _bounded(groups))
    fence = _held(notes, "a job can open devices that are not its own", lambda: _fenced(groups))
    return Tried(identity, fence, limits, tuple(notes))


def _held(notes: list[str], otherwise: str, attempt: Callable[[], bool]) -> bool:
    try:
        held, why = attempt(), ""
    except (OSError, subprocess.SubprocessError) as failure:
        held, why = False, f" ({failure})"
    if not held:
        notes.append(otherwise + why)
    return held


def _hidden(source: Path) -> bool:
    """Behind the walls no process of another account may be seen."""
    command = [sys.executable, "-I", "-S", "-E", str(source), "--try"]
    made = subprocess.run(command, timeout=TRIAL_S, capture_output=True, check=False)  # noqa: S603
    return made.returncode == 0


def _bounded(groups: Groups) -> bool:
    """A process that was put into a group must be counted there."""
    if not {"cpu", "memory"} <= groups.found.trees.keys():
        return False
    name = PROBE.format(what="bounds", pid=os.getpid())
    try:
        entered = groups.make(name, Bounds(cpu_milli=1000, memory_mib=64))
        with subprocess.Popen(["/bin/sleep", "30"]) as child:
            try:
                _put(child.pid, entered)
                return child.pid in groups.pids(name) and groups.memory_mib(name) is not None
            finally:
                child.kill()
    finally:
        groups.remove(name)


def _fenced(groups: Groups) -> bool:
    """A plain device opens, one that is not on the list does not."""
    if not groups.fences:
        return False
    listed = [text for text in DENIED if Path(text.rpartition("<")[2]).exists()]
    return bool(listed) and _opens(groups, ALLOWED) and not any(_opens(groups, t) for t in listed)


def _opens(groups: Groups, script: str) -> bool:
    name = PROBE.format(what="fence", pid=os.getpid())
    try:
        entered = groups.make(name, Bounds(devices=()))
        with subprocess.Popen(  # noqa: S603
            ["/bin/sh", "-c", script], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as child:
            _put(child.pid, entered)
            child.communicate(b"\n", timeout=TRIAL_S)
            return child.returncode == 0
    finally:
        groups.remove(name)


def _put(pid: int, entered: tuple[str, ...]) -> None:
    for procs in entered:
        Path(procs).write_text(str(pid), encoding="ascii")
