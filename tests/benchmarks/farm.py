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

from nodeagent.__main__ import agents, serve
from nodeagent.config import parse
from nodeagent.link import Link

TIMES: dict[str, list[float]] = defaultdict(list)
FAILED: dict[str, int] = defaultdict(int)


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
    """Serve; what was timed since the file `marks` appeared is written once a second."""
    _, config = parse(words, os.environ)
    made = agents(config)
    for agent in made:
        timed = Timed(config.portal)
        agent.link = agent.logs._link = timed
    telling = asyncio.create_task(tell(target, marks))
    try:
        await serve(config, made)
    finally:
        telling.cancel()


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
