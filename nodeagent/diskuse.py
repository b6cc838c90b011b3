"""Disk that jobs use in their own folders: who stays over the share is warned, then stopped alone.

What a job writes into storage that it was given is that storage's own affair, and its output is
kept short by its shim. A single file is held to the share by the kernel.
"""

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path

from nodeagent.limits import LOOKS, STOP_AT
from nodeagent.protocol.vocabulary import ExitReason
from nodeagent.records import Record

log = logging.getLogger(__name__)

LOOK_EVERY_S = 10.0
MOST_ENTRIES = 200_000
"""Files that one look counts; the rest of a larger tree is not counted."""

LOOK_S = 5.0
MIB = 1024 * 1024

Stop = Callable[[str, ExitReason, float], Awaitable[None]]


class DiskUse:
    """The folders of one node's jobs. `home` says where an attempt's folder is."""

    def __init__(
        self, records: dict[str, Record], home: Callable[[Record], Path], stop: Stop
    ) -> None:
        self._records = records
        self._home = home
        self._stop = stop
        self._over: dict[str, int] = {}

    async def run(self, changed: Callable[[], None]) -> None:
        """Look again and again, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if await self.look():
                changed()

    async def look(self) -> bool:
        """One look at every running job that has a share; whether there is news to tell."""
        live = [r for r in self._records.values() if r.pid and r.ended_at is None and r.disk_mib]
        before = dict(self._over)
        self._over = {}
        news = False
        for record in live:
            was = record.disk_warning
            try:
                await self._look_at(record, before.get(record.attempt, 0))
            except Exception:  # one job's trouble: the agent and all other jobs go on
                log.exception("%s: its disk cannot be judged", record.attempt)
            news = news or (was == "") != (record.disk_warning == "")
        return news

    async def _look_at(self, record: Record, looks: int) -> None:
        used = await asyncio.to_thread(used_mib, self._home(record))
        record.disk_warning = ""
        if used > record.disk_mib:
            record.disk_warning = f"uses {used} of {record.disk_mib} MiB of disk"
            await self._judge(record, used, looks)

    async def _judge(self, record: Record, used: int, looks: int) -> None:
        if used <= record.disk_mib * STOP_AT:
            return
        self._over[record.attempt] = looks + 1
        if looks + 1 >= LOOKS:
            record.stopped_for = record.disk_warning
            log.warning("%s is stopped, it %s", record.attempt, record.disk_warning)
            await self._stop(record.attempt, ExitReason.LIMIT, record.grace_s)


def used_mib(folder: Path) -> int:
    """MiB of disk below a folder that a job may change meanwhile; no link is followed.

    Counted in blocks, a file with several names once. Blocks for a few seconds at most.
    """
    until = time.monotonic() + LOOK_S
    seen: set[tuple[int, int]] = set()
    blocks = entries = 0
    waiting = [str(folder)]
    while waiting and entries < MOST_ENTRIES and time.monotonic() < until:
        for entry in _entries(waiting.pop()):
            entries += 1
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:  # it is gone
                continue
            if (found.st_dev, found.st_ino) not in seen:
                seen.add((found.st_dev, found.st_ino))
                blocks += found.st_blocks
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
    return blocks * 512 // MIB


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Empty for a folder that is gone, or too deep to be named."""
    try:
        with os.scandir(folder) as found:
            return list(islice(found, MOST_ENTRIES))
    except OSError:
        return []
