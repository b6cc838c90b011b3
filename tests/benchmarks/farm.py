"""Many agents in this one process, as `python -m nodeagent --all-nodes` runs them, timed.

Each answer of the portal is timed; what was seen so far lies in the file that was named first.
"""

import asyncio
import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path

from nodeagent.__main__ import agents
from nodeagent.config import parse
from nodeagent.link import Link

TIMES: dict[str, list[float]] = defaultdict(list)
FAILED: dict[str, int] = defaultdict(int)
APART_S = float(os.environ.get("FARM_APART_S", "0.05"))
"""Between two starts: a thousand machines are not switched on within one second."""


class Timed(Link):
    """The line with a stop-watch."""

    async def _ask(self, method, name, **words):
        began = time.monotonic()
        try:
            return await super()._ask(method, name, **words)
        except Exception:
            FAILED[name] += 1
            raise
        finally:
            TIMES[name].append(time.monotonic() - began)


async def run(words, target, marks):
    """Run all until one fails; what was timed since `marks` appeared is written now and then."""
    _, config = parse(words, os.environ)
    made = agents(config)
    for agent in made:
        timed = Timed(config.portal)
        agent.link = agent.logs._link = timed
    running = [asyncio.create_task(tell(target, marks))]
    for agent in made:
        running.append(asyncio.create_task(agent.run()))
        await asyncio.sleep(APART_S)
    done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)
    for one in done:
        one.result()


async def tell(target, marks):
    begun = False
    while True:
        if marks.exists() and not begun:
            begun = True
            TIMES.clear()
            FAILED.clear()
        beside = target.with_suffix(".new")
        beside.write_text(json.dumps({"times": TIMES, "failed": FAILED}))
        beside.replace(target)
        await asyncio.sleep(2)


if __name__ == "__main__":
    asyncio.run(run(sys.argv[3:], Path(sys.argv[1]), Path(sys.argv[2])))
