"""Plays acts on the product's own NVIDIA driver in a child process; what came of each, as JSON."""

import asyncio
import json
import sys
from pathlib import Path

import msgspec

from nodeagent.drivers.base import DriverError
from nodeagent.drivers.nvml.driver import NvmlDriver
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.vocabulary import Mode


async def act(driver, name, *given):
    """One call; a refusal is its kind and its text."""
    if name == "set_mode":
        given = (given[0], Mode(given[1]))
    if name == "create_slice":
        given = (msgspec.convert(given[0], WantedSlice),)
    try:
        return msgspec.to_builtins(await getattr(driver, name)(*given))
    except DriverError as failure:
        return {"no": type(failure).__name__, "why": str(failure)}


async def play(state, acts, carve):
    """Open a driver on its state folder and take the acts in turn."""
    driver = NvmlDriver(Path(state), carve)
    await driver.open()
    return [await act(driver, *one) for one in acts]


if __name__ == "__main__":
    state, acts, carve = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(asyncio.run(play(state, acts, carve))))
