"""What simulated nodes say first: `python -m nodeagent.drivers.simulated.told FLEET.yaml`."""

import asyncio
import sys
import tempfile
from pathlib import Path

import msgspec

from nodeagent import clock
from nodeagent.drivers.simulated.driver import SimulatedDriver
from nodeagent.drivers.simulated.fleet import BadFleet, SimulatedNode, read_fleet
from nodeagent.protocol.inventory import Card, Hello, Host
from nodeagent.protocol.version import PROTOCOL

BAD_USE = 2
BOOT = "told"
"""No machine's boot: an agent that comes later under this name has started anew."""


def hello_of(node: SimulatedNode, folder: Path) -> Hello:
    """The first words of a simulated node, without its agent."""
    driver = SimulatedDriver(node, folder)
    host, cards = asyncio.run(_both(driver))
    return Hello(
        protocol=PROTOCOL,
        agent="",
        name=node.name,
        boot_id=BOOT,
        sent_at=clock.wall(),
        host=host,
        cards=cards,
        labels=dict(node.labels),
    )


async def _both(driver: SimulatedDriver) -> tuple[Host, tuple[Card, ...]]:
    return await driver.host(), await driver.inventory()


def main() -> int:
    """One JSON list of hellos on standard output; a file that cannot be used is one line."""
    try:
        nodes = read_fleet(Path(sys.argv[1]))
    except (BadFleet, IndexError) as bad:
        sys.stderr.write(f"{bad}\n")
        return BAD_USE
    with tempfile.TemporaryDirectory() as folder:
        told = [hello_of(node, Path(folder)) for node in nodes]
    sys.stdout.buffer.write(msgspec.json.encode(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
