"""What the process tree of one notebook does: processors, disk, and what is no kernel."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from nodeagent import clock, processes
from nodeagent.processes import Process

MIB = 1024 * 1024


@dataclass
class Look:
    """The counters of one look; the next look turns them into rates."""

    at: float
    ticks: int
    disk: int
    net: int


@dataclass(frozen=True)
class Moving:
    """Rates since the last look; None at the first. `jobs` counts processes."""

    jobs: int
    cpu_cores: float | None = None
    disk_mib_s: float | None = None
    net_mib_s: float | None = None


def moving(shim: int, main: int, net: int, before: Look | None) -> tuple[Moving, Look]:
    """One look at the tree below a shim. `net` is how many bytes its tunnels have carried."""
    seen = processes.snapshot()
    tree = processes.below(shim, seen)
    ticks = sum(one.cpu_ticks for one in tree)
    look = Look(clock.boottime(), ticks, sum(_disk(one.pid) for one in tree), net)
    jobs = len(_jobs(main, tree))
    if before is None or look.at <= before.at:
        return Moving(jobs), look
    time = look.at - before.at
    cores = max(look.ticks - before.ticks, 0) / processes.TICKS_PER_S / time
    disk = max(look.disk - before.disk, 0) / MIB / time
    return Moving(jobs, cores, disk, max(look.net - before.net, 0) / MIB / time), look


def _jobs(main: int, tree: list[Process]) -> list[Process]:
    """Everything but the server and what it started itself: kernels, and shells of terminals."""
    plain = {main} | {one.pid for one in tree if one.parent == main}
    return [one for one in tree if one.pid not in plain and one.state not in "ZX"]


def _disk(pid: int) -> int:
    """Bytes that the process read from and wrote to storage; 0 when it is gone."""
    with contextlib.suppress(OSError, ValueError):
        lines = Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines()
        told = dict(line.split(": ", 1) for line in lines)
        return int(told["read_bytes"]) + int(told["write_bytes"])
    return 0
