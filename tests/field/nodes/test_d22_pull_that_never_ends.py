"""D22: work whose image or environment never comes is stopped at once, and its card is free."""

import asyncio
import time

import pytest

from nodeagent.notebooks.library import Library
from nodeagent.protocol.vocabulary import WorkFound
from nodeagent.runners.container import Containers
from nodeagent.runners.environment import tools_folder
from nodeagent.runners.process import ProcessRunner
from pool.cycle.round import run_rounds
from pool.models import Event, Quota
from tests import rows
from tests.fakes import engine
from tests.field.nodes.engined import Engined
from tests.pool.place import Place, free, seen
from tests.portal.callers import caller

pytestmark = pytest.mark.django_db

WHOLE = {"parts": 1, "whole": True}
HANGS = {
    "image": {"runner": "container", "image": "slow:1"},
    "environment": {"kind": "notebook", "command": ["jupyter", "lab"]},
}
SAYS = {"image": "layer 1 of 2", "environment": "fetching"}


class NeverThere:
    """An environment of notebooks that says how far it is, and is never ready."""

    async def ready(self, say):
        say("fetching jupyterlab")
        await asyncio.Event().wait()


@pytest.fixture
def place(folders, tmp_path):
    """One node with one card, and a limit of one card."""
    state, work = folders
    containers = Containers(
        str(engine.install(tmp_path / "engine", "torch:2")), (tmp_path / "cdi",)
    )
    library = Library(work)
    library.environment = NeverThere()
    part = rows.partition()
    into = rows.project()
    quota = rows.quota(limit=1_000_000, label="A100-80GB", project=into, partition=part)
    with asyncio.Runner() as loop:

        async def made():
            tools = tools_folder(work, ("/usr/bin/python3",))
            runner = ProcessRunner(state, work, tools, containers=containers, library=library)
            await runner.adopt()
            return runner

        runner = loop.run(made())
        node = rows.node()
        node.host |= {"runners": list(runner.kinds)}
        node.save()
        yield Place(Engined(node, runner=runner, loop=loop), quota, into)
        runner.kill_everything()
        loop.run(closed(runner))


async def closed(runner):
    runner.close()
    while runner._pulls:
        await asyncio.sleep(0.01)


def turned(place, holds, seconds=10.0):
    """The node goes on until something is true of it or of the books."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, place.node.work
        place.node.turn()


def words(place):
    """What the runner says of its only attempt."""
    one = next(iter(place.node.runner.records.values()))
    return one.message + (one.notebook.words if one.notebook else "")


@pytest.mark.parametrize("what", HANGS)
def test_what_waits_for_something_that_never_comes_is_stopped_over_rest_at_once(place, what):
    work = place.submit(need=WHOLE, **HANGS[what])
    turned(place, lambda: place.node.runner.records and SAYS[what] in words(place))
    assert seen(work).state == "starting" and place.held == 1_000_000
    owner = caller(work.owner)
    next_one = place.submit(need=WHOLE, owner=work.owner, runner="container", image="torch:2")
    assert next_one.state == "queued", "its card is taken"
    first = owner("DELETE", f"workloads/{work.uid}")
    again = owner("DELETE", f"workloads/{work.uid}")
    third = owner.post(f"workloads/{work.uid}/stop")
    assert [one.status_code for one in (first, again, third)] == [202] * 3
    assert {one.json()["state"] for one in (first, again, third)} == {"stopping"}
    turned(place, lambda: seen(work).state != "stopping")
    assert work.state == "cancelled"
    turned(place, lambda: not place.node.runner._pulls)
    late = owner.post(f"workloads/{work.uid}/stop")
    assert (late.status_code, late.json()["state"]) == (202, "cancelled")
    ends = Event.objects.filter(kind="workload.moved", subject=f"workload:{work.uid}")
    assert ends.filter(data__to="cancelled").count() == 1
    run_rounds()
    turned(place, lambda: seen(next_one).state == "succeeded")
    assert next_one.state == "succeeded"
    free(place)
    assert Quota.objects.get(pk=place.quota.pk).held == 0
    assert all(one.state != WorkFound.RUNNING for one in place.node.runner.records.values())
