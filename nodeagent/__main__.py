"""`python -m nodeagent`: the agent of one node, or of every node of a simulated fleet."""

import asyncio
import fcntl
import logging
import os
import signal
import sys
from pathlib import Path

from nodeagent import doctor
from nodeagent.agent import Agent
from nodeagent.config import BadConfig, Config, host_name, parse
from nodeagent.drivers import choose
from nodeagent.drivers.simulated.fleet import BadFleet, SimulatedNode, find_node, read_fleet
from nodeagent.enclosure import enclosure
from nodeagent.enclosure.trial import Tried
from nodeagent.enrol import Enrolment
from nodeagent.link import Link
from nodeagent.notebooks.environment import INTERPRETERS, Recipe
from nodeagent.notebooks.library import Library
from nodeagent.runners import container
from nodeagent.runners.accounts import blocked_at
from nodeagent.runners.container import Containers
from nodeagent.runners.environment import tools_folder
from nodeagent.runners.process import ProcessRunner

log = logging.getLogger("nodeagent")

BAD_USE = 2


def build(config: Config, node: SimulatedNode | None, tried: Tried | None = None) -> Agent:
    """One agent with all its parts. What the machine can keep apart is tried once for all.

    Raises:
        BadConfig: a folder cannot be used.
    """
    name = node.name if node is not None else config.node or host_name()
    state = config.state_dir / name if config.all_nodes else config.state_dir
    work = _work_root(config.work_dir)
    _make(state, 0o700)
    _lock(state)
    enclosed = enclosure.build(str(state), tried)
    engine = Containers(container.engine() if node is None else "")
    carve = config.carve and not config.observe
    wishes = choose.Wishes(carve, config.hami_core, config.exporter, config.vgpu_policy)
    driver = choose.driver(node, state, config.faults, wishes)
    tools = tools_folder(work, INTERPRETERS)
    recipe = Recipe(INTERPRETERS, config.notebook_requirements, config.notebook_index)
    library = Library(work, recipe, config.home_dir, config.ca)
    return Agent(
        name=name,
        driver=driver,
        runner=ProcessRunner(state, work, tools, config.gang_ports, enclosed, engine, library),
        link=Link(config.portal, ca=config.ca),
        state_dir=state,
        enrolment=Enrolment(
            state, config.token_of(name), {} if node is None else node.labels, config.observe
        ),
        address=config.address,
    )


def agents(config: Config) -> list[Agent]:
    """Every agent that this process is to be.

    Raises:
        BadConfig, BadFleet
    """
    if not config.simulated:
        return [build(config, None)]
    nodes = read_fleet(config.fleet)
    if config.all_nodes:
        first = enclosure.build(str(config.state_dir))
        tried = first.tried
        first.close()
        return [build(config, node, tried) for node in nodes]
    if not config.node:
        raise BadConfig("--fleet needs --node NAME or --all-nodes")
    return [build(config, find_node(nodes, config.node))]


def _make(folder: Path, mode: int) -> None:
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as failure:
        raise BadConfig(f"folder {folder}: {failure}") from failure


def _lock(folder: Path) -> None:
    """One agent per state folder; the kernel lets go when this process ends, however it ends."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise BadConfig(f"another agent runs with --state-dir {folder}") from None


def _work_root(folder: Path) -> Path:
    _make(folder, 0o711)
    if os.geteuid() == 0:
        folder.chmod(0o711)
        blocked = blocked_at(folder)
        if blocked is not None:
            raise BadConfig(f"--work-dir {folder}: job accounts cannot pass {blocked}")
    return folder


async def serve(config: Config, made: list[Agent]) -> int:
    """Run until a signal asks to stop; a second one ends at once."""
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()

    def on_signal() -> None:
        if asked.is_set():
            os._exit(1)
        asked.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    running = [asyncio.create_task(agent.run()) for agent in made]
    stop = asyncio.create_task(asked.wait())
    done, _ = await asyncio.wait([*running, stop], return_when=asyncio.FIRST_COMPLETED)
    if config.stop_workloads and stop in done:
        await asyncio.gather(*(agent.stop_workloads(config.grace_s) for agent in made))
    for task in running:
        task.cancel()
    ends = await asyncio.gather(*running, return_exceptions=True)
    for agent in made:
        await agent.close()
    failures = [end for end in ends if not isinstance(end, asyncio.CancelledError) and end]
    for failure in failures:
        log.error("the agent failed", exc_info=failure)
    stop.cancel()
    return 1 if failures else 0


async def _doctor(config: Config) -> int:
    findings = await doctor.examine(config)
    sys.stdout.write(doctor.report(findings, config.as_json))
    return 0 if all(one.ok for one in findings) else 1


def main() -> int:
    """Exit code 0 after an orderly stop, 2 for bad use, 1 for a failure."""
    try:
        action, config = parse(sys.argv[1:], os.environ)
        logging.basicConfig(
            level=config.log_level,
            format="%(asctime)s %(levelname)s %(message)s",
            stream=sys.stderr,
        )
        logging.getLogger("httpx").setLevel(logging.WARNING)
        if action == "doctor":
            return asyncio.run(_doctor(config))
        return asyncio.run(_run(config))
    except (BadConfig, BadFleet) as bad:
        sys.stderr.write(f"nodeagent: {bad}\n")
        return BAD_USE


async def _run(config: Config) -> int:
    return await serve(config, agents(config))


if __name__ == "__main__":
    sys.exit(main())
