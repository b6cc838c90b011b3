"""What is looked at before a start and after an end: is the card really free, its memory back?"""

import asyncio
import math
import re
from pathlib import Path

from nodeagent import clock, mounts, processes
from nodeagent.drivers.base import Busy, Driver, DriverError, Lost, kept
from nodeagent.protocol.desired import WantedWork
from nodeagent.protocol.inventory import Card
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import Mode

SOFT = frozenset({Mode.MPS, Mode.TIMESLICE})
OWN = frozenset({Mode.WHOLE, Mode.MIG})
"""Modes in which all the memory that is looked at is the slice's own."""

NAMED = 3
BACK_S = 10.0
"""How long memory may take to come back after the last process is gone, before it is told."""

BACK_EVERY_S, BACK_SELDOM_S = 0.2, 2.0
"""The first pause between two looks, and the longest: each is twice the one before. Some vendors'
programs take seconds for a look, and the readings of all other cards stand in line behind it.
"""


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
    known = {card.uuid: card for card in cards}
    for one in slices:
        if one.mode not in OWN | SOFT:
            continue
        card = known[one.card]
        size = card.memory_mib if one.mode == Mode.WHOLE else one.memory_mib
        needed = size if one.mode in SOFT else math.floor(size * (1 - kept(card.vendor)))
        try:
            free = await driver.free_mib(one)
        except DriverError as failure:
            return f"the card does not answer: {failure}"
        if free is not None and free < needed:
            what = "instance" if one.mode == Mode.MIG else "card"
            return f"only {free} of {needed} MiB of the {what} are free{_zombies()}"
    return ""


async def memory_back(driver: Driver, uid: str) -> str:
    """Return when nothing of its last holder is left in the slice. What is returned are words for
    people, when the card does not answer for so long: its own health keeps it out of the offer.

    Raises:
        Busy: the memory did not come back in time.
    """
    until = clock.boottime() + BACK_S
    pause = BACK_EVERY_S
    while True:
        try:
            await driver.clean_slice(uid)
        except Lost as failure:
            if clock.boottime() >= until:
                return f"its memory was not looked at: the card does not answer ({failure})"
        except Busy as failure:
            if clock.boottime() >= until:
                raise Busy(f"{failure}{_zombies()}") from failure
        else:
            return ""
        await asyncio.sleep(pause)
        pause = min(2 * pause, BACK_SELDOM_S)


def _zombies() -> str:
    """Ended processes that nobody took leave of: a card's memory may hang on them."""
    seen = processes.snapshot()
    dead = [one.pid for one in seen.values() if one.state == "Z"]
    if not dead:
        return ""
    named = ", ".join(str(pid) for pid in sorted(dead)[:NAMED])
    return f"; {len(dead)} ended processes are not cleared away ({named})"
