"""Agents that the drills start, kill and stop themselves, on a stack that starts none."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nodeagent import processes
from tests.architecture.house import ROOT
from tests.drills.cables import Cables, CannotLay, certificate
from tests.drills.line import Line
from tests.house import House
from tests.stack import NOT_PASSED_ON
from tests.waiting import until

NODES = ("sim-a", "sim-b")


class Agents:
    """One process a node of the house's fleet; all of them talk through one line.

    `cables` are the nodes' own networks where the machine can make them, else None, and `network`
    says why not: then a cut is one of the line itself.
    """

    def __init__(self, house: House, names: tuple[str, ...] = NODES) -> None:
        self.house = house
        self.names = names
        self.cables: Cables | None = None
        try:
            self.cables = Cables.laid(names)
            self.network = "each node on a network of its own, whose cable is pulled"
        except CannotLay as why:
            self.network = f"cuts at the socket only, as this machine makes no networks: {why}"
        self.line, self.portals, self.ca = self._wired()
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        admin = house.as_("platform_admin")
        self.tokens = {
            name: str(admin("POST", "join-tokens", {"node": name})["token"]) for name in names
        }
        self.said = (house.root / "agents.log").open("ab")

    def _wired(self) -> tuple[Line, dict[str, str], tuple[str, ...]]:
        """The line, where each node finds the portal on it, and how it believes that."""
        port = self.house.stack.port
        if self.cables is None:
            line = Line(port)
            return line, dict.fromkeys(self.names, f"http://127.0.0.1:{line.port}"), ()
        public, tls = certificate(self.house.root, self.cables.addresses)
        line = Line(port, self.cables.addresses, tls)
        ends = self.cables.by_node.items()
        return (
            line,
            {n: f"https://{one.near}:{line.port}" for n, one in ends},
            ("--ca", str(public)),
        )

    def state(self, name: str) -> Path:
        """The folder of one agent."""
        return self.house.root / "agents" / name

    def start(self, name: str, *more: str) -> None:
        """Start it, unless it runs."""
        if self.alive(name):
            return
        kept = {k: v for k, v in os.environ.items() if not k.startswith(NOT_PASSED_ON)}
        self.running[name] = subprocess.Popen(
            [
                *(() if self.cables is None else self.cables.inside(name)),
                *(sys.executable, "-m", "nodeagent"),
                *("--portal", self.portals[name], *self.ca, "--node", name),
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

    def unplug(self, name: str) -> None:
        """The node is cut off: by its cable, else by stopping its agent, which nobody hears."""
        if self.cables is None:
            self.kill(name, signal.SIGSTOP)
        else:
            self.cables.pull(name)

    def well(self) -> None:
        """Nothing is wrong between agents and portal any more."""
        self.line.well()
        if self.cables is not None:
            self.cables.plug()

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
        self.well()
        for name in self.running:
            self.kill(name, signal.SIGCONT)
            self.kill(name)
        for pid in self.shims():
            os.kill(pid, signal.SIGKILL)
        self.line.close()
        if self.cables is not None:
            self.cables.take_up()
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
