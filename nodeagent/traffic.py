"""What process trees move to and from disks and network, as the kernel counts it."""

import contextlib
from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nodeagent import clock, processes

MIB = 1024 * 1024
PROC = Path("/proc")
LOOPBACK = "lo"
RECEIVED, SENT = 0, 8
"""Places of the two counts of bytes in a line of /proc/net/dev."""

TICK_S = 1 / processes.TICKS_PER_S
STARTED = 19
"""Place of the moment of its start among what stands behind a process's name, in ticks."""

Counts = dict[str, int]
"""Bytes so far by process, or by network namespace."""


@dataclass
class Look:
    """The counts of one attempt at one moment; None where none of its processes can be read."""

    at: float
    disk: Counts | None = None
    net: Counts | None = field(default_factory=dict)


class Traffic:
    """Rates between two looks. Counts of a process that ended in between are lost with it."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._last: dict[str, Look] = {}

    def rates(self, attempt: str, pids: Collection[int]) -> tuple[float | None, float | None]:
        """Disk and network in MiB/s since the last look; None is unknown, as at the first look.

        Network is known only of an attempt that has a network namespace of its own: in the node's
        nobody counts by process.
        """
        look = Look(clock.boottime(), disk_of(pids, self._proc), net_of(pids, self._proc))
        before = self._last.get(attempt)
        self._last[attempt] = look
        if before is None or look.at <= before.at:
            return None, None
        seconds = look.at - before.at
        fresh = {pid for pid in pids if _started(self._proc / str(pid)) >= before.at - TICK_S}
        older = {_namespace(self._proc / str(pid)) for pid in set(pids) - fresh}
        nets = {_namespace(self._proc / str(pid)) for pid in fresh} - older
        return (
            _rate(before.disk, look.disk, seconds, {str(pid) for pid in fresh}),
            _rate(before.net, look.net, seconds, nets),
        )

    def keep(self, attempts: Iterable[str]) -> None:
        """Forget all others."""
        self._last = {one: self._last[one] for one in attempts if one in self._last}


def _rate(
    before: Counts | None, now: Counts | None, seconds: float, fresh: Container[str]
) -> float | None:
    """What began since the last look is counted whole; what is only seen since, from now on."""
    if before is None or now is None:
        return None
    known = {name: 0 if name in fresh else count for name, count in now.items()} | before
    moved = sum(max(count - known[name], 0) for name, count in now.items())
    return moved / MIB / seconds


def _started(process: Path) -> float:
    """When it began, in seconds of CLOCK_BOOTTIME; 0 when it is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = (process / "stat").read_text(encoding="utf-8", errors="replace")
        return int(text[text.rindex(")") + 2 :].split()[STARTED]) * TICK_S
    return 0.0


def disk_of(pids: Collection[int], proc: Path = PROC) -> Counts | None:
    """Bytes read from and written to storage by each process."""
    found: Counts = {}
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, KeyError):
            lines = (proc / f"{pid}/io").read_text(encoding="ascii").splitlines()
            told = dict(line.split(": ", 1) for line in lines)
            found[str(pid)] = int(told["read_bytes"]) + int(told["write_bytes"])
    return found or None


def net_of(pids: Collection[int], proc: Path = PROC) -> Counts | None:
    """Bytes in and out of each network namespace that these processes have to themselves."""
    own = _namespace(proc / "self")
    members: dict[str, Path] = {}
    for pid in pids:
        name = _namespace(proc / str(pid))
        if name and name != own:
            members.setdefault(name, proc / str(pid))
    counts = ((name, _moved(process)) for name, process in members.items())
    return {name: count for name, count in counts if count is not None} or None


def _namespace(process: Path) -> str:
    with contextlib.suppress(OSError):
        return str((process / "ns/net").readlink())
    return ""


def _moved(process: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = (process / "net/dev").read_text(encoding="ascii")
        rows = [line.partition(":") for line in text.splitlines() if ":" in line]
        counts = [said.split() for name, _, said in rows if name.strip() != LOOPBACK]
        return sum(int(one[RECEIVED]) + int(one[SENT]) for one in counts)
    return None
