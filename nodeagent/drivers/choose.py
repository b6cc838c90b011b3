"""Which driver a node gets: the one place that knows the vendors."""

import os
from pathlib import Path

from nodeagent.drivers.base import Driver
from nodeagent.drivers.nvml.driver import NvmlDriver
from nodeagent.drivers.programs import Programs
from nodeagent.drivers.sharing.base import Sharing
from nodeagent.drivers.sharing.mps import Mps
from nodeagent.drivers.sharing.timeslice import TimeSlice, find_preload
from nodeagent.drivers.sharing.vgpu import Vgpu
from nodeagent.drivers.simulated.driver import SimulatedDriver
from nodeagent.drivers.simulated.fleet import SimulatedNode


def driver(
    node: SimulatedNode | None,
    state_dir: Path,
    faults: Path | None,
    carve: bool = False,
    preload: Path | None = None,
) -> Driver:
    """A node of the fleet file, or the cards of this very machine when there is none.

    A machine without cards offers its processors alone. Real cards are cut and shared only with
    `carve`; `preload` names HAMi-core's library where it is in no usual place.
    """
    if node is None:
        return NvmlDriver(state_dir, carve, sharings(state_dir, preload))
    return SimulatedDriver(node, state_dir, faults)


def sharings(state_dir: Path, preload: Path | None) -> tuple[Sharing, ...]:
    """The ways to share an NVIDIA card on this machine; each says for itself whether it can."""
    programs = Programs()
    root = Path("/run/gpupool") if os.geteuid() == 0 else state_dir
    return (
        Mps(root / "mps", programs),
        TimeSlice(programs, find_preload(preload), root / "hami"),
        Vgpu(),
    )
