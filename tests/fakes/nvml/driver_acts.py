"""Plays acts on the product's own NVIDIA driver in a child process; what came of each, as JSON."""

import asyncio
import json
import os
import sys
from pathlib import Path

import msgspec
import pynvml

from nodeagent.drivers.base import DriverError, Load
from nodeagent.drivers.nvml.driver import NvmlDriver
from nodeagent.drivers.programs import Programs
from nodeagent.drivers.sharing.mps import Mps
from nodeagent.drivers.sharing.timeslice import TimeSlice
from nodeagent.drivers.sharing.vgpu import Vgpu
from nodeagent.execute import Executor
from nodeagent.protocol.desired import Desired, WantedSlice
from nodeagent.protocol.vocabulary import Mode
from nodeagent.reconcile import Found, steps

PASSES = 200


async def act(driver, name, *given):
    """One call; a refusal is its kind and its text."""
    if name == "set_mode":
        given = (given[0], Mode(given[1]))
    if name == "create_slice":
        given = (msgspec.convert(given[0], WantedSlice),)
    if name == "converge":
        return await converge(driver, *given)
    if name == "script":
        return script(*given)
    if name == "rest":
        return await asyncio.sleep(*given)
    if name == "sample":
        loads = [Load(**one | {"pids": frozenset(one["pids"])}) for one in given[0]]
        given = (1.0, tuple(loads))
    try:
        came = getattr(driver, name)(*given)
        return msgspec.to_builtins(await came if asyncio.iscoroutine(came) else came)
    except DriverError as failure:
        return {"no": type(failure).__name__, "why": str(failure)}


async def converge(driver, wanted):
    """What an agent does with a wish of these slices; its failed steps until nothing is left."""
    executor = Executor(driver, None, {card.uuid: card for card in await driver.inventory()})
    slices = tuple(msgspec.convert(one, WantedSlice) for one in wanted)
    wish = Desired(epoch=1, generation=1, slices=slices)
    failures = []
    for _ in range(PASSES):
        present = executor.seen(await driver.slices(), wish)
        todo = steps(wish, Found(slices=present, modes=await driver.modes()))
        if not todo:
            return failures
        for step in todo:
            outcome = await executor.take(step, wish, Found())
            if outcome is not None and not outcome.ok:
                failures.append([str(step.kind), step.target, outcome.reason])
    return [*failures, ["never", "", "it goes on and on"]]


def script(*lines):
    """From now on the library plays this script; a reset takes place at once."""
    (Path(os.environ["FAKE_NVML_WORLD"]) / "script.txt").write_text("\n".join(lines) + "\n")
    pynvml.nvmlDeviceGetCount()


def sharings(state: Path):
    """The ways of sharing, with the programs of this process's PATH and a made-up /sys."""
    programs = Programs()
    preload = state / "libvgpu.so"
    return (
        Mps(state / "mps", programs),
        TimeSlice(programs, preload if preload.exists() else None, state / "hami"),
        Vgpu(state / "sys"),
    )


async def play(state, acts, carve):
    """Open a driver on its state folder and take the acts in turn."""
    driver = NvmlDriver(Path(state), carve, sharings(Path(state)))
    await driver.open()
    return [await act(driver, *one) for one in acts]


if __name__ == "__main__":
    state, acts, carve = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(asyncio.run(play(state, acts, carve))))
