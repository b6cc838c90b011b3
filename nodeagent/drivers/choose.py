"""Which driver a node gets: the one place that knows the vendors."""

import os
from ctypes import CDLL
from dataclasses import dataclass
from pathlib import Path

from nodeagent.drivers.amd.library import installed as amd_installed
from nodeagent.drivers.amd.source import Amd
from nodeagent.drivers.amd.tools import AMD, ROCM
from nodeagent.drivers.ascend.source import SMI, Ascend
from nodeagent.drivers.base import Driver
from nodeagent.drivers.exporter import Exporter
from nodeagent.drivers.listed import ListedDriver
from nodeagent.drivers.nvml.driver import NvmlDriver
from nodeagent.drivers.programs import Programs
from nodeagent.drivers.sharing.base import Sharing
from nodeagent.drivers.sharing.mps import Mps
from nodeagent.drivers.sharing.timeslice import TimeSlice, find_preload
from nodeagent.drivers.sharing.vgpu import Vgpu
from nodeagent.drivers.simulated.driver import SimulatedDriver
from nodeagent.drivers.simulated.fleet import SimulatedNode


@dataclass(frozen=True)
class Wishes:
    """What the administrator of a real node asks of its driver.

    Real cards are cut and shared only with `carve`; `preload` names HAMi-core's library where it
    is in no usual place; `exporter` is the address of another source of readings; `vgpu_policy`
    says how the vGPU devices of one card take turns, "" as the host has it.
    """

    carve: bool = False
    preload: Path | None = None
    exporter: str = ""
    vgpu_policy: str = ""


def driver(
    node: SimulatedNode | None, state_dir: Path, faults: Path | None, wishes: Wishes | None = None
) -> Driver:
    """A node of the fleet file, or the cards of this very machine when there is none.

    A machine without cards offers its processors alone.
    """
    if node is not None:
        return SimulatedDriver(node, state_dir, faults)
    wishes = wishes or Wishes()
    exporter = Exporter(wishes.exporter) if wishes.exporter else None
    programs = Programs()
    if not _has_nvidia():
        if amd_installed() or programs.has(AMD) or programs.has(ROCM):
            return ListedDriver(state_dir, Amd(programs), wishes.carve, exporter)
        if programs.has(SMI):
            return ListedDriver(state_dir, Ascend(programs), wishes.carve, exporter)
    return NvmlDriver(state_dir, wishes.carve, sharings(state_dir, wishes), exporter)


def _has_nvidia() -> bool:
    """Is NVIDIA's management library on this machine?"""
    try:
        CDLL("libnvidia-ml.so.1")
    except OSError:
        return False
    return True


def sharings(state_dir: Path, wishes: Wishes) -> tuple[Sharing, ...]:
    """The ways to share an NVIDIA card on this machine; each says for itself whether it can."""
    programs = Programs()
    root = Path("/run/gpupool") if os.geteuid() == 0 else state_dir
    return (
        Mps(root / "mps", programs),
        TimeSlice(programs, find_preload(wishes.preload), root / "hami"),
        Vgpu(policy=wishes.vgpu_policy),
    )
