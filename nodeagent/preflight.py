"""What is looked at just before a start: is the card really free, its driver new enough?"""

import asyncio
import re
from pathlib import Path

from nodeagent import mounts, processes
from nodeagent.drivers.base import Driver, DriverError
from nodeagent.protocol.desired import WantedWork
from nodeagent.protocol.inventory import Card
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import Mode

SPARE = 0.1
"""Share of a whole card that its driver may keep for itself."""

SOFT = frozenset({Mode.MPS, Mode.TIMESLICE})
NAMED = 3


def unfit(work: WantedWork, cards: list[Card]) -> str:
    """Why the work can never run here, or nothing: an old driver, a secret that is gone."""
    if work.missing:
        return f"what it should be told is there no more: {', '.join(work.missing)}"
    for card in cards:
        if work.min_driver and card.driver and version(card.driver) < version(work.min_driver):
            return f"it needs driver {work.min_driver}, {card.label} has {card.driver}"
    return ""


async def not_there(work: WantedWork, own: tuple[Path, ...]) -> str:
    """Why this node cannot give it what it needs now, or nothing: storage, programs."""
    asked = [(one.name, one.root, one.types) for one in work.mounts]
    for name, root, types in asked:
        why = mounts.given_wrongly(root, own) or await _looked(root, types)
        if why:
            return f"{name} ({root}): {why}"
    programs = f"{work.folder}/bin"
    if work.folder and (why := await _looked(programs, ())):
        return f"its environment {programs}: {why}"
    return ""


async def _looked(root: str, types: tuple[str, ...]) -> str:
    look = asyncio.ensure_future(asyncio.to_thread(mounts.why_not, root, types))
    done, _ = await asyncio.wait({look}, timeout=mounts.LOOK_S)
    return look.result() if done else "it does not answer"


def version(words: str) -> tuple[int, ...]:
    """Numbers of a version, for comparing."""
    return tuple(int(part) for part in re.findall(r"\d+", words))


async def not_free(driver: Driver, slices: tuple[FoundSlice, ...], cards: list[Card]) -> str:
    """Why the slices are not free now, or nothing. A card that does not tell is believed."""
    sizes = {card.uuid: card.memory_mib for card in cards}
    for one in slices:
        if one.mode != Mode.WHOLE and one.mode not in SOFT:
            continue
        needed = one.memory_mib if one.mode in SOFT else round(sizes[one.card] * (1 - SPARE))
        try:
            free = await driver.free_mib(one.card)
        except DriverError as failure:
            return f"the card does not answer: {failure}"
        if free is not None and free < needed:
            return f"only {free} of {needed} MiB of the card are free{_zombies()}"
    return ""


def _zombies() -> str:
    """Ended processes that nobody took leave of: a card's memory may hang on them."""
    seen = processes.snapshot()
    dead = [one.pid for one in seen.values() if one.state == "Z"]
    if not dead:
        return ""
    named = ", ".join(str(pid) for pid in sorted(dead)[:NAMED])
    return f"; {len(dead)} ended processes are not cleared away ({named})"
