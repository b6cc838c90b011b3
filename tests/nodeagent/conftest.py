"""An agent on simulated cards with a small portal before it; every process is gone afterwards."""

import asyncio
import contextlib
import tempfile
from pathlib import Path

import pytest
import pytest_asyncio

from nodeagent import processes
from nodeagent.agent import Agent
from nodeagent.drivers.simulated import cards
from nodeagent.drivers.simulated.driver import SimulatedDriver
from nodeagent.drivers.simulated.fleet import SimulatedNode
from nodeagent.enrol import Enrolment
from nodeagent.link import Link
from nodeagent.runners.environment import tools_folder
from nodeagent.runners.process import ProcessRunner
from tests.nodeagent.fake_portal import FakePortal
from tests.nodeagent.waiting import until


class Node:
    """One node's folders, and the agents that come and go on it."""

    def __init__(self, state: Path, work: Path, portal: FakePortal) -> None:
        self.state, self.work, self.portal = state, work, portal
        made = tuple(cards.card("test-node", index, "A100-80GB", None) for index in range(2))
        self.spec = SimulatedNode("test-node", 16, 64, 100, made)
        self.card, self.other_card = made[0].uuid, made[1].uuid
        self.agent: Agent | None = None
        self._task: asyncio.Task | None = None

    def build(self, observe: bool = False) -> Agent:
        tools = tools_folder(self.work, ("/usr/bin/python3",))
        return Agent(
            name="test-node",
            driver=SimulatedDriver(self.spec, self.state),
            runner=ProcessRunner(self.state, self.work, tools),
            link=Link(self.portal.url),
            state_dir=self.state,
            enrolment=Enrolment(self.state, self.portal.token, {}, observe),
        )

    async def start(self, observe: bool = False) -> Agent:
        self.agent = self.build(observe)
        self._task = asyncio.create_task(self.agent.run())
        return self.agent

    async def stop(self) -> None:
        """End the agent as kill -9 would: nothing of it gets a last word."""
        if self._task is None:
            return
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        await self.agent.close()
        self._task = None

    def script(self, text: str) -> None:
        """Write the fault script."""
        (self.state / "faults.yaml").write_text(text)


@pytest.fixture
def folders():
    """State for the agent alone, and a work root that job accounts can reach."""
    with tempfile.TemporaryDirectory(prefix="gpupool-test-") as folder:
        root = Path(folder)
        root.chmod(0o711)
        state, work = root / "state", root / "work"
        state.mkdir(mode=0o700)
        work.mkdir()
        work.chmod(0o711)
        yield state, work


@pytest_asyncio.fixture
async def portal():
    async with FakePortal() as fake:
        yield fake


@pytest_asyncio.fixture
async def node(folders, portal):
    made = Node(*folders, portal)
    yield made
    if made.agent is not None:
        for record in made.agent.runner.records.values():
            if record.ended_at is None:
                await asyncio.to_thread(made.agent.runner.kill_everything)
    await made.stop()
    # A shim writes its end first and leaves a moment later; it must leave.
    await until(lambda: not list(_labelled(str(folders[0]))), "the end of every process")


def _labelled(state: str):
    for pid, environment in processes.labelled("GPUPOOL_SHIM"):
        seen = processes.look(pid)
        if environment["GPUPOOL_SHIM"] == state and seen is not None and seen.state not in "ZX":
            yield pid
