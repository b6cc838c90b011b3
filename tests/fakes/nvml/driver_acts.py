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
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import Mode
from nodeagent.reconcile import Found, steps

PASSES = 200


async def act(driver, name, *given):
    """One call; a refusal is its kind and its text."""
    other = {"converge": lambda *g: converge(driver, *g), "script": script, "rest": asyncio.sleep}
    try:
        call = other.get(name) or getattr(driver, name)
        came = call(*TYPED[name](*given) if name in TYPED else given)
        return msgspec.to_builtins(await came if asyncio.iscoroutine(came) else came)
    except DriverError as failure:
        return {"no": type(failure).__name__, "why": str(failure)}


TYPED = {
    "set_mode": lambda card, mode: (card, Mode(mode)),
    "create_slice": lambda one: (msgspec.convert(one, WantedSlice),),
    "free_mib": lambda row: (msgspec.convert(row, FoundSlice),),
    "device_nodes": lambda rows: (tuple(msgspec.convert(row, FoundSlice) for row in rows),),
    "sample": lambda loads: (
        1.0,
        tuple(Load(**one | {"pids": frozenset(one["pids"])}) for one in loads),
    ),
}
"""What a call takes, made from plain JSON."""


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
        Vgpu(state / "sys", os.environ.get("VGPU_POLICY", "")),
    )


async def play(state, acts, carve):
    """Open a driver on its state folder and take the acts in turn."""
    driver = NvmlDriver(Path(state), carve, sharings(Path(state)))
    await driver.open()
    return [await act(driver, *one) for one in acts]


if __name__ == "__main__":
    state, acts, carve = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(asyncio.run(play(state, acts, carve))))
