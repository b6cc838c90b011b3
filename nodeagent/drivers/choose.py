"""Which driver a node gets: the one place that knows the vendors."""

from pathlib import Path

from nodeagent.drivers.base import Driver
from nodeagent.drivers.nvml.driver import NvmlDriver
from nodeagent.drivers.simulated.driver import SimulatedDriver
from nodeagent.drivers.simulated.fleet import SimulatedNode


def driver(
    node: SimulatedNode | None, state_dir: Path, faults: Path | None, carve: bool = False
) -> Driver:
    """A node of the fleet file, or the cards of this very machine when there is none.

    A machine without cards offers its processors alone. Real cards are cut only with `carve`.
    """
    if node is None:
        return NvmlDriver(state_dir, carve)
    return SimulatedDriver(node, state_dir, faults)
