"""In a child process: a re-carve is killed at each of its steps, and an agent is started anew.

Every turn is a fork, so that the library and the driver are as new as after a real kill.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from nodeagent import disk
from tests.fakes.nvml.driver_acts import play

TURNS = 200


def forked(job) -> tuple[int, object]:
    """What the job came to in a process of its own: (signal that ended it, its answer)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, json.dumps(job()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        said = answer.read()
    _, status = os.waitpid(child, 0)
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return ended, json.loads(said) if said else None


def dying_at_card(number: int) -> None:
    """The library kills this process before and after each change of a card; at this one."""
    os.environ["FAKE_NVML_KILL_AT"] = str(number)


def dying_at_disk(number: int) -> None:
    """The same before and after each file that the agent writes."""
    write, count = disk.write_whole, [0]

    def step() -> None:
        count[0] += 1
        if count[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def dying(*given, **more) -> None:
        step()
        write(*given, **more)
        step()

    disk.write_whole = dying


DYING = {"card": dying_at_card, "disk": dying_at_disk}


def settled(state: str, wish: list) -> list:
    """A new agent brings the card to the wish: [failures, what lies there, what lies there]."""
    ended, came = forked(
        lambda: asyncio.run(play(state, [["converge", wish], ["slices"], ["slices"]], True))
    )
    assert ended == 0
    return came


def walk(state: str, before: list, after: list, end: list, where: str) -> list:
    """One turn for each step: what lies there in the end; the last turn is one that lived."""
    ends = []
    for number in range(1, TURNS):
        settled(state, before)

        def die(at: int = number) -> object:
            DYING[where](at)
            return asyncio.run(play(state, [["converge", after]], True))

        ended, _ = forked(die)
        ends.append(settled(state, end))
        if ended == 0:
            return ends
    return [*ends, "it never lived"]


if __name__ == "__main__":
    state, *rest = json.loads(sys.argv[1])
    Path(state).mkdir(exist_ok=True)
    sys.stdout.write(json.dumps(walk(state, *rest)))
