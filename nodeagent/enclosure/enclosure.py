"""The walls of one node's jobs: what was tried and held is put round every attempt."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from nodeagent.enclosure import groups, trial
from nodeagent.enclosure.groups import Bounds, Groups
from nodeagent.enclosure.hierarchy import Hierarchy
from nodeagent.enclosure.trial import Tried
from nodeagent.protocol.inventory import Host

LEAST_SHARED_MIB = 64
NUMA = Path("/sys/devices/system/node")
TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108


SHARED_TEMPORARY = (
    "/tmp is not private to each job, only TMPDIR is: the node's own folders lie below it"  # noqa: S108
)


def below(place: Path) -> list[str]:
    """The temporary folders that hold this place, so that they cannot be laid over."""
    return [one for one in TEMPORARY if place.resolve().is_relative_to(one)]


@dataclass(frozen=True)
class Asked:
    """What one attempt needs of its walls. Memory in MiB, processors in thousandths.

    `shares_ipc` is for cards under a daemon of the host (MPS), which meets its clients in the
    host's shared memory. `places` are folders that must stay where they are.
    """

    cpu_milli: int
    memory_mib: int
    devices: tuple[str, ...]
    numa: tuple[int, ...] = ()
    shares_ipc: bool = False
    temporary: Path | None = None
    places: tuple[Path, ...] = ()


class Enclosure:
    """Builds walls from what this machine can do, and takes them away when all is clean."""

    def __init__(self, tried: Tried, kept: Groups) -> None:
        self.tried = tried
        self._groups = kept

    def claims(self, host: Host, places: tuple[Path, ...] = ()) -> Host:
        """The host with what held when it was tried; a simulated one claims what its file says.

        Folders of the node below a temporary one keep that from being made private.
        """
        if host.simulated:
            return host
        tried = self.tried
        shared = tried.identity and any(below(place) for place in places)
        notes = (*host.notes, *tried.notes, *((SHARED_TEMPORARY,) if shared else ()))
        return replace(host, identity=tried.identity, fence=tried.fence, notes=notes)

    def walls(self, name: str, asked: Asked) -> dict[str, object]:
        """What `nodeagent.walls.enter` puts up for this attempt; its groups exist afterwards.

        Raises:
            OSError: the kernel refuses a group that it gave when it was tried.
        """
        entered: tuple[str, ...] = ()
        if self.tried.limits or self.tried.fence:
            bounds = Bounds(
                cpu_milli=asked.cpu_milli if self.tried.limits else 0,
                memory_mib=asked.memory_mib if self.tried.limits else 0,
                devices=asked.devices if self.tried.fence else None,
            )
            entered = self._groups.make(name, bounds)
        return {
            "groups": list(entered),
            "cpus": sorted(processors(asked.numa)),
            "private": self.tried.identity,
            "ipc": not asked.shares_ipc,
            "shm_mib": max(asked.memory_mib // 2, LEAST_SHARED_MIB),
            "binds": _binds(asked) if self.tried.identity else [],
        }

    def pids(self, name: str) -> set[int]:
        """Processes that are in the attempt's groups, whatever they call themselves."""
        return self._groups.pids(name)

    def release(self, name: str) -> bool:
        """Take the attempt's groups away; false when something in them would not end."""
        return self._groups.remove(name)

    def sweep(self, keep: set[str]) -> None:
        """Take away what earlier agents of this node left behind."""
        self._groups.sweep(keep)

    def close(self) -> None:
        """Let go; running attempts stay inside."""
        self._groups.close()


def none() -> Enclosure:
    """No walls at all: for an agent that may not build any, and for thousands in one process."""
    return Enclosure(Tried(identity=False, fence=False, limits=False), Groups("", Hierarchy({})))


def build(owner: str, tried: Tried | None = None) -> Enclosure:
    """Walls of this machine for one agent; what was tried once may be told. Blocks."""
    root = os.geteuid() == 0
    kept = groups.found_for(owner, root=root)
    return Enclosure(trial.try_all(kept) if tried is None else tried, kept)


def processors(numa: tuple[int, ...], root: Path | None = None) -> set[int]:
    """The processors of these NUMA nodes that this process may use; empty: no pinning."""
    found: set[int] = set()
    for node in numa:
        with contextlib.suppress(OSError, ValueError):
            text = ((root or NUMA) / f"node{node}" / "cpulist").read_text(encoding="ascii")
            found |= set(_listed(text.strip()))
    return found & os.sched_getaffinity(0)


def _listed(text: str) -> list[int]:
    """`0-3,8` as numbers."""
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def _binds(asked: Asked) -> list[tuple[str, str, bool]]:
    """Its own temporary folder under the names that programs know.

    Not where something it needs lies below: that would hide it.
    """
    if asked.temporary is None:
        return []
    taken = {one for place in (*asked.places, asked.temporary) for one in below(place)}
    free = [one for one in TEMPORARY if one not in taken]
    return [(str(asked.temporary), target, False) for target in free]
