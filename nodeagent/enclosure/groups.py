"""Control groups of one agent's attempts: made before the start, removed when all is clean."""

import contextlib
import hashlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from nodeagent import processes
from nodeagent.enclosure import fence, hierarchy
from nodeagent.enclosure.hierarchy import OURS, Hierarchy

PERIOD_US = 100_000
LEAST_QUOTA_US = 1000
PIDS = 8192
REMOVE_ROUNDS = 20
REMOVE_PAUSE_S = 0.05


@dataclass(frozen=True)
class Bounds:
    """What one attempt may use; 0 is no bound. Memory in MiB, processors in thousandths.

    `devices` are the files under /dev that it may open beside the plain ones; None: no fence.
    """

    cpu_milli: int = 0
    memory_mib: int = 0
    devices: tuple[str, ...] | None = None


class Groups:
    """The groups of one agent, told apart from other agents' of this machine by `owner`."""

    def __init__(self, owner: str, found: Hierarchy) -> None:
        self.found = found
        self._owner = hashlib.sha256(owner.encode()).hexdigest()[:12]

    @property
    def fences(self) -> bool:
        """Whether there is anything here that could fence devices."""
        return "devices" in self.found.trees or self.found.unified is not None

    def make(self, name: str, bounds: Bounds) -> tuple[str, ...]:
        """Make the attempt's groups. Returns the files into which its process writes itself.

        Raises:
            OSError: the kernel refuses a group or a bound.
        """
        for folder in self._folders(name):
            self._prepare(folder)
        self._bound(name, bounds)
        if bounds.devices is not None:
            listed = (fence.device(path) for path in bounds.devices)
            self._close(name, (*fence.PLAIN, *(one for one in listed if one is not None)))
        return tuple(str(folder / "cgroup.procs") for folder in self._folders(name))

    def pids(self, name: str) -> set[int]:
        """Every process in the attempt's groups, whatever it calls itself."""
        found: set[int] = set()
        for folder in self._folders(name):
            with contextlib.suppress(OSError):
                found |= {int(pid) for pid in (folder / "cgroup.procs").read_text().split()}
        return found

    def memory_mib(self, name: str) -> float | None:
        """Memory in use, None when this machine does not count it."""
        root = self.found.trees.get("memory")
        if root is None:
            return None
        folder = self._at(root, name)
        for file in ("memory.current", "memory.usage_in_bytes"):
            with contextlib.suppress(OSError, ValueError):
                return int((folder / file).read_text()) / 2**20
        return None

    def remove(self, name: str) -> bool:
        """Kill what is left and take the groups away; false when something would not end."""
        for _ in range(REMOVE_ROUNDS):
            for pid in self.pids(name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            left = [folder for folder in self._folders(name) if not _removed(folder)]
            if not left:
                return True
            processes.pause(REMOVE_PAUSE_S)
        return False

    def sweep(self, keep: set[str]) -> None:
        """Take away groups of attempts that nobody remembers, and empty folders of other agents.

        An agent that was killed leaves its folder behind. One that lives loses an empty folder too,
        and makes it again with its next start.
        """
        for root in self._roots():
            self._sweep_owners(root / OURS)
            ours = root / OURS / self._owner
            if ours.is_dir():
                for folder in [one for one in ours.iterdir() if one.is_dir()]:
                    if folder.name not in keep:
                        self.remove(folder.name)

    def _sweep_owners(self, all_of_them: Path) -> None:
        with contextlib.suppress(OSError):
            for folder in all_of_them.iterdir():
                if folder.is_dir() and folder.name != self._owner:
                    _removed(folder)

    def close(self) -> None:
        """Leave no empty folder behind; groups of running attempts stay."""
        for root in self._roots():
            _removed(root / OURS / self._owner)

    def _roots(self) -> set[Path]:
        unified = {self.found.unified} if self.found.unified is not None else set()
        return {*self.found.trees.values(), *unified}

    def _at(self, root: Path, name: str) -> Path:
        return root / OURS / self._owner / name

    def _folders(self, name: str) -> list[Path]:
        return sorted(self._at(root, name) for root in self._roots())

    def _prepare(self, folder: Path) -> None:
        """Make the folder; in version 2 each parent must hand its controllers on."""
        try:
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        except FileNotFoundError:  # another agent's sweep took the empty parent in between
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        root = self.found.unified
        if root is None or not folder.is_relative_to(root):
            return
        on = [f"+{name}" for name, tree in self.found.trees.items() if tree == root]
        for parent in (root, root / OURS, root / OURS / self._owner):
            if on:
                (parent / "cgroup.subtree_control").write_text(" ".join(on), encoding="ascii")

    def _bound(self, name: str, bounds: Bounds) -> None:
        quota = max(bounds.cpu_milli * PERIOD_US // 1000, LEAST_QUOTA_US)
        memory = bounds.memory_mib * 2**20
        old = {
            "cpu": ("cpu.cfs_quota_us", str(quota) if bounds.cpu_milli else ""),
            "memory": ("memory.limit_in_bytes", str(memory) if memory else ""),
            "pids": ("pids.max", str(PIDS)),
        }
        new = {
            "cpu": ("cpu.max", f"{quota} {PERIOD_US}" if bounds.cpu_milli else ""),
            "memory": ("memory.max", str(memory) if memory else ""),
            "pids": ("pids.max", str(PIDS)),
        }
        for controller, root in self.found.trees.items():
            words = new if root == self.found.unified else old
            file, value = words.get(controller, ("", ""))
            if value:
                (self._at(root, name) / file).write_text(value, encoding="ascii")

    def _close(self, name: str, allowed: tuple[fence.Device, ...]) -> None:
        if "devices" in self.found.trees:
            fence.close_by_list(self._at(self.found.trees["devices"], name), allowed)
        elif self.found.unified is not None:
            fence.close_by_program(self._at(self.found.unified, name), allowed)
        else:
            raise OSError("this machine has nothing that could fence devices")


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def found_for(owner: str, *, root: bool) -> Groups:
    """The machine's own, or none for an agent that is not root and may write no group."""
    return Groups(owner, hierarchy.read() if root else Hierarchy({}))
