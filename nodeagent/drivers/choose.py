"""Which driver a node gets: the one place that knows the vendors."""

from pathlib import Path

from nodeagent.drivers.base import Driver
from nodeagent.drivers.nvml.driver import NvmlDriver
from nodeagent.drivers.simulated.driver import SimulatedDriver
from nodeagent.drivers.simulated.fleet import SimulatedNode


def simulated(node: SimulatedNode, state_dir: Path, faults: Path | None) -> Driver:
    """A node of the fleet file."""
    return SimulatedDriver(node, state_dir, faults)


def real(state_dir: Path) -> Driver:
    """The cards of this very machine; a machine without any offers its processors alone."""
    return NvmlDriver(state_dir)
