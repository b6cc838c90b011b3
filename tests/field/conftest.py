"""The bench of the field cases: simulated nodes, and machines with the stand-in library."""

import pytest

from nodeagent.drivers.simulated import cards
from nodeagent.drivers.simulated.driver import SimulatedDriver
from nodeagent.drivers.simulated.fleet import SimulatedNode
from tests.field.bench import Bench
from tests.field.cases import cases, stack_of_cases
from tests.field.yielding import Giving
from tests.nodeagent.conftest import folders, node, portal
from tests.nodeagent.drivers.conftest import machine, nvml_library

__all__ = ["cases", "folders", "machine", "node", "nvml_library", "portal", "stack_of_cases"]

QUICK = "create_delay_s: 0\ndelete_delay_s: 0\nmode_delay_s: 0\n"


@pytest.fixture
def bench(tmp_path):
    """Makes a node of these models whose agent's own code drives simulated cards."""

    def made(*models):
        found = tuple(cards.card("bench", n, model, None) for n, model in enumerate(models))
        spec = SimulatedNode("bench", 64, 512, 2000, found)
        return Bench.joined(SimulatedDriver(spec, tmp_path), tmp_path / "faults.yaml", QUICK)

    return made


@pytest.fixture(scope="session")
def giving_house():
    """The one stack of the cases about giving way; they run in one process, one after another."""
    made = Giving()
    try:
        yield made.ready()
    finally:
        made.house.over()


@pytest.fixture
def giving(giving_house):
    """The same, left empty by each of them."""
    yield giving_house
    giving_house.cleared()
