"""Where this machine keeps its control groups: version 1 has a tree per controller, 2 has one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MOUNTS = Path("/proc/self/mounts")
OURS = "gpupool"
"""The folder below each root under which all groups of all agents of a machine lie."""

WANTED = ("cpu", "memory", "pids", "devices")


@dataclass(frozen=True)
class Hierarchy:
    """Folders by controller. In version 2 they are one, and devices are fenced by a program."""

    trees: Mapping[str, Path]
    unified: Path | None = None

    @property
    def empty(self) -> bool:
        return not self.trees and self.unified is None


def read(mounts: Path = MOUNTS) -> Hierarchy:
    """What is mounted and may be written; a machine without control groups has none."""
    trees: dict[str, Path] = {}
    unified: Path | None = None
    for line in mounts.read_text(encoding="utf-8").splitlines():
        _, folder, kind, options, *_ = line.split()
        root = Path(folder)
        if kind == "cgroup":
            trees |= {name: root for name in options.split(",") if name in WANTED}
        elif kind == "cgroup2":
            unified = root
            controllers = (root / "cgroup.controllers").read_text(encoding="ascii").split()
            trees = {name: root for name in controllers if name in WANTED} | trees
    return Hierarchy(trees, unified)
