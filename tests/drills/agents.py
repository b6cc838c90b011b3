"""Agents that the drills start, kill and stop themselves, on a stack that starts none."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from nodeagent import processes
from tests.architecture.house import ROOT
from tests.drills.line import Line
from tests.house import House
from tests.stack import NOT_PASSED_ON
from tests.waiting import until

NODES = ("sim-a", "sim-b")


class Agents:
    """One process a node of the house's fleet; all of them talk through one line."""

    def __init__(self, house: House, names: tuple[str, ...] = NODES) -> None:
        self.house = house
        self.names = names
        self.line = Line(house.stack.port)
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        admin = house.as_("platform_admin")
        self.tokens = {
            name: str(admin("POST", "join-tokens", {"node": name})["token"]) for name in names
        }
        self.said = (house.root / "agents.log").open("ab")

    def state(self, name: str):
        """The folder of one agent."""
        return self.house.root / "agents" / name

    def start(self, name: str, *more: str) -> None:
        """Start it, unless it runs."""
        if self.alive(name):
            return
        kept = {k: v for k, v in os.environ.items() if not k.startswith(NOT_PASSED_ON)}
        self.running[name] = subprocess.Popen(
            [
                *(sys.executable, "-m", "nodeagent"),
                *("--portal", f"http://127.0.0.1:{self.line.port}", "--node", name),
                *("--fleet", str(self.house.root / "fleet.yaml")),
                *("--state-dir", str(self.state(name))),
                *("--work-dir", str(self.house.root / "work")),
                *more,
            ],
            cwd=tempfile.gettempdir(),
            env=kept | {"PYTHONPATH": str(ROOT), "GPUPOOL_AGENT_JOIN_TOKEN": self.tokens[name]},
            stdout=self.said,
            stderr=self.said,
        )

    def alive(self, name: str) -> bool:
        """Does its process run (or is it stopped)?"""
        return name in self.running and self.running[name].poll() is None

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """A signal to its process; after SIGKILL it is gone."""
        if self.alive(name):
            self.running[name].send_signal(number)
            if number == signal.SIGKILL:
                self.running[name].wait(10)

    def all_heard(self, *, seconds: float = 60.0) -> None:
        """Every node is ready by the portal's word."""
        ready = "SELECT count(*) FROM pool_node WHERE state = 'ready'"
        until(
            lambda: self.house.rows(ready) == [(len(self.names),)],
            seconds=seconds,
            what="all nodes are ready",
        )

    def shims(self) -> dict[int, str]:
        """The processes that hold attempts of these nodes, with the attempt of each."""
        mine = {str(self.state(name)) for name in self.names}
        return {
            pid: labels.get("GPUPOOL_ATTEMPT", "")
            for pid, labels in processes.labelled("GPUPOOL_SHIM")
            if labels["GPUPOOL_SHIM"] in mine
        }

    def over(self) -> None:
        """All end; shims that a broken test left behind go too."""
        self.line.well()
        for name in self.running:
            self.kill(name, signal.SIGCONT)
            self.kill(name)
        for pid in self.shims():
            os.kill(pid, signal.SIGKILL)
        self.line.close()
        self.said.close()


@contextmanager
def house_with_agents(*options: str, **changed: str) -> Iterator[tuple[House, Agents]]:
    """A running stack whose agents are the drill's own; both are gone afterwards."""
    house = House("--no-agent", *options, **changed)
    agents = None
    try:
        house.stack.ready(seconds=300)
        agents = Agents(house)
        for name in agents.names:
            agents.start(name)
        agents.all_heard()
        yield house, agents
    finally:
        if agents is not None:
            agents.over()
        house.over()
