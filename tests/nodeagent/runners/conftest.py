"""A process runner in folders of its own; its processes are gone afterwards."""

import asyncio

import pytest_asyncio

from nodeagent.runners.environment import tools_folder
from nodeagent.runners.process import ProcessRunner


@pytest_asyncio.fixture
async def make_runner(folders):
    """Runners over the same folders: each one made is an agent after a restart."""
    made = []

    async def make():
        state, work = folders
        runner = ProcessRunner(state, work, tools_folder(work, ("/usr/bin/python3",)))
        await runner.adopt()
        made.append(runner)
        return runner

    yield make
    for runner in made:
        await asyncio.to_thread(runner.kill_everything)
        runner.close()


@pytest_asyncio.fixture
async def runner(make_runner):
    return await make_runner()
