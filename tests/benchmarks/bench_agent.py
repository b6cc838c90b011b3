"""What an agent costs its node: a real process, eight cards, read every two seconds.

`AGENT_SECONDS` (60) is how long is measured, after `AGENT_SETTLES` (15) s in which it starts. The
portal beside it is the tests' own small one; its processor time is not the agent's.
"""

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from pathlib import Path

import psutil

from nodeagent import processes
from nodeagent.protocol.vocabulary import WorkFound
from tests.architecture.house import ROOT
from tests.fakes.nvml.world import World, build
from tests.nodeagent.fake_portal import FakePortal, job, mig
from tests.nodeagent.waiting import until
from tests.stack import NOT_PASSED_ON

SECONDS = float(os.environ.get("AGENT_SECONDS", "60"))
SETTLES = float(os.environ.get("AGENT_SETTLES", "15"))
CARDS = 8
NODE = (
    "nodes:\n  - {name: bench, cpus: 128, memory_gib: 1024, disk_gib: 8000,"
    f" cards: [{{model: A100-80GB, count: {CARDS}}}]}}\n"
)


class Cost:
    """One agent process and what the kernel says that it used."""

    def __init__(self, root: Path, portal: FakePortal) -> None:
        self.root, self.portal = root, portal
        self.state = root / "state"
        self.state.mkdir(mode=0o700)
        (root / "fleet.yaml").write_text(NODE)

    async def run(self, *words: str, **more: str) -> asyncio.subprocess.Process:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(NOT_PASSED_ON)}
        folders = ("--state-dir", str(self.state), "--work-dir", str(self.root / "work"))
        enrol = ("--portal", self.portal.url, "--join-token", self.portal.token)
        with (self.root / "agent.log").open("ab") as said:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "nodeagent", *folders, *enrol, *words),
                cwd=ROOT,
                env=kept | more,
                stdout=said,
                stderr=said,
            )

    def ended(self) -> None:
        """Every shim that it left behind is gone."""
        for pid, labels in processes.labelled("GPUPOOL_SHIM"):
            if labels["GPUPOOL_SHIM"] == str(self.state):
                os.kill(pid, signal.SIGKILL)


async def measured(process: psutil.Process, portal: FakePortal) -> dict[str, float]:
    """Processor seconds, memory and messages over the time."""
    await asyncio.sleep(SETTLES)
    before, told = process.cpu_times(), (len(portal.reports), len(portal.batches))
    faults = process.num_threads()
    await asyncio.sleep(SECONDS)
    after = process.cpu_times()
    used = after.user + after.system - before.user - before.system
    rows = [len(batch.readings) for batch in portal.batches[told[1] :]]
    return {
        "cpu_s_an_hour": used * 3600 / SECONDS,
        "percent_of_a_core": 100 * used / SECONDS,
        "rss_mib": process.memory_info().rss / 2**20,
        "threads": max(faults, process.num_threads()),
        "reports": len(portal.reports) - told[0],
        "rows": sum(rows),
    }


def told(what: str, found: dict[str, float]) -> None:
    print(  # noqa: T201
        f"\n{what}: {found['cpu_s_an_hour']:.1f} processor seconds an hour"
        f" ({found['percent_of_a_core']:.2f} % of a core), {found['rss_mib']:.0f} MiB resident,"
        f" {found['threads']:.0f} threads; {found['reports']:.0f} reports and"
        f" {found['rows']:.0f} rows of readings in {SECONDS:g} s"
    )


@contextlib.asynccontextmanager
async def agent(*words, **more):
    """A running one with its portal; nothing of it is left afterwards."""
    with tempfile.TemporaryDirectory(prefix="gp-cost-") as folder:
        root = Path(folder)
        root.chmod(0o711)
        async with FakePortal() as portal:
            cost = Cost(root, portal)
            shown = [word.format(root=root) for word in words]
            process = await cost.run(*shown, **more)
            try:
                await until(lambda: portal.batches, "its first readings")
                yield portal, psutil.Process(process.pid)
            except AssertionError:
                print((root / "agent.log").read_text())  # noqa: T201
                raise
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
                cost.ended()


SIMULATED = ("--fleet", "{root}/fleet.yaml", "--node", "bench")


async def test_a_quiet_node_of_eight_simulated_cards():
    async with agent(*SIMULATED) as (portal, process):
        found = await measured(process, portal)
        told(f"{CARDS} simulated cards, nothing runs", found)
        assert found["rows"] >= CARDS


async def test_a_node_on_which_eight_jobs_run():
    async with agent(*SIMULATED) as (portal, process):
        cards = [one.uuid for one in portal.hellos[-1].cards]
        names = [f"at-{n}" for n in range(CARDS)]
        slices = [mig(f"s{n}", card) for n, card in enumerate(cards)]
        line = ("sh", "-c", "while :; do echo tick; sleep 5; done")
        work = [job(name, *line, slices=[f"s{n}"]) for n, name in enumerate(names)]
        await portal.want(slices=slices, work=work)
        running = lambda: all(  # noqa: E731
            (one := portal.work(name)) is not None and one.state == WorkFound.RUNNING
            for name in names
        )
        await portal.until(running)
        found = await measured(process, portal)
        told(f"{CARDS} simulated cards, a job on each that writes a line every 5 s", found)
        assert found["rows"] >= 2 * CARDS


async def test_eight_cards_through_the_real_binding(tmp_path_factory):
    """H100 of the stand-in library: a thread for each card, GPM and all meters of the table."""
    library = build(tmp_path_factory.mktemp("nvml"))
    world = World(library, tmp_path_factory.mktemp("world"), ("H100-80GB",) * CARDS)
    names = ("LD_LIBRARY_PATH", "FAKE_NVML_WORLD", "PYTHONPATH")
    only = {name: world.environment()[name] for name in names}
    async with agent("--node", "bench", **only) as (portal, process):
        found = await measured(process, portal)
        told(f"{CARDS} cards of the stand-in library through pynvml, nothing runs", found)
        assert len(portal.hellos[-1].cards) == CARDS
        assert found["rows"] >= CARDS
