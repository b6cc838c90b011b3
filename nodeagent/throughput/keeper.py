"""How fast the jobs of one node say they are: read, asked for, or told, and never believed long."""

import asyncio
import hmac
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from msgspec.structs import replace

from nodeagent import clock
from nodeagent.giveway import folder
from nodeagent.giveway.contract import FOLDER
from nodeagent.protocol.samples import Reading
from nodeagent.records import Record
from nodeagent.throughput.contract import (
    FIELDS,
    FILE,
    Page,
    Speeds,
    metrics_of,
    page_of,
    speeds_of,
)
from nodeagent.throughput.push import Push

log = logging.getLogger(__name__)

FRESH_S = 60.0
"""A word that is older says nothing of now."""

ASK_EVERY_S = 10.0
ASK_LIMIT_S = 3.0
MOST_PAGE = 1 << 20
TOTAL = "_total"
"""Metrics of this ending count: their speed is the difference of two looks."""


@dataclass
class Heard:
    """The newest words of one attempt: values with their CLOCK_BOOTTIME, and counts seen before."""

    values: dict[str, tuple[float, float]] = field(default_factory=dict)
    counts: dict[str, tuple[float, float]] = field(default_factory=dict)
    file_at: float = 0.0

    def take(self, speeds: Speeds, at: float) -> None:
        """The newest word on each field counts."""
        self.values |= {name: (value, at) for name, value in speeds.items()}

    def fresh(self, at: float) -> Speeds:
        """What was said within the last minute."""
        return {name: v for name, (v, said) in self.values.items() if 0 <= at - said <= FRESH_S}


class Throughput:
    """The speeds of one node's attempts. `homes` says where the folder of an attempt is."""

    def __init__(
        self,
        records: dict[str, Record],
        homes: Callable[[Record], Path],
        state_dir: Path,
        work_root: Path,
    ) -> None:
        self._records = records
        self._homes = homes
        self._heard: dict[str, Heard] = {}
        self.push = Push(state_dir, work_root, self._told)

    def variables(self, record: Record) -> dict[str, str]:
        """Where a job leaves its words."""
        file = self._homes(record) / FOLDER / FILE
        return {"GPUPOOL_THROUGHPUT_FILE": str(file), **self.push.variables(record.attempt)}

    async def run(self, changed: Callable[[], None]) -> None:
        """Listen, and ask the pages of jobs, until cancelled."""
        await self.push.listen()
        try:
            async with httpx.AsyncClient(trust_env=False, follow_redirects=False) as client:
                while True:
                    await asyncio.gather(*(self._ask(client, one) for one in self._live()))
                    await asyncio.sleep(ASK_EVERY_S)
        finally:
            await self.push.close()

    def beside(self, readings: Iterable[Reading]) -> list[Reading]:
        """The same readings, the first of each attempt with what its work says of itself."""
        at = clock.boottime()
        for record in self._live():
            self._read(record, at)
        told: set[str] = set()
        found = []
        for one in readings:
            heard = self._heard.get(one.attempt or "")
            if heard is not None and one.attempt not in told:
                told.add(one.attempt or "")
                found.append(replace(one, **heard.fresh(at)))
            else:
                found.append(one)
        self._heard = {a: h for a, h in self._heard.items() if a in self._records}
        return found

    def _live(self) -> list[Record]:
        return [one for one in self._records.values() if one.pid and one.ended_at is None]

    def _of(self, attempt: str) -> Heard:
        return self._heard.setdefault(attempt, Heard())

    def _read(self, record: Record, at: float) -> None:
        """A file counts from the moment it is seen to have changed: its own clock may be off."""
        seen = folder.look(self._homes(record), FILE)
        if seen is None or seen[1] == self._of(record.attempt).file_at:
            return
        heard = self._of(record.attempt)
        heard.file_at = seen[1]
        heard.take(speeds_of(seen[0]) or {}, at)

    def _told(self, token: str, body: bytes) -> bool:
        """A post; false when nobody has that token, or it says nothing that can be understood."""
        speeds = speeds_of(body)
        owner = next((r for r in self._live() if self._owns(r, token)), None)
        if speeds is None or owner is None:
            return False
        self._of(owner.attempt).take(speeds, clock.boottime())
        return True

    def _owns(self, record: Record, token: str) -> bool:
        # As bytes: a text with letters beyond ASCII is refused by raising.
        return hmac.compare_digest(self.push.token(record.attempt).encode(), token.encode())

    async def _ask(self, client: httpx.AsyncClient, record: Record) -> None:
        """Whatever a job names or answers: its words never end the agent of the node."""
        page = page_of(record.scrape)
        if page is None:
            return
        try:
            async with asyncio.timeout(ASK_LIMIT_S):
                text = await _page(client, page)
            self._take_page(self._of(record.attempt), page, text)
        except (httpx.HTTPError, TimeoutError) as failure:
            log.debug("%s: its page does not answer: %r", record.attempt, failure)
        except Exception as failure:
            log.warning("%s: its page cannot be asked: %.200r", record.attempt, failure)

    def _take_page(self, heard: Heard, page: Page, text: str) -> None:
        at = clock.boottime()
        found = metrics_of(text, set(page.names.values()))
        for name in FIELDS:
            metric = page.names[name]
            if metric not in found:
                continue
            value: float | None = found[metric]
            if metric.endswith(TOTAL):
                value = _rate(heard.counts.get(metric), found[metric], at)
                heard.counts[metric] = (found[metric], at)
            if value is not None and value >= 0:
                heard.take({name: value}, at)


def _rate(before: tuple[float, float] | None, count: float, at: float) -> float | None:
    """Per second since the last look; None at the first, and when the count began anew."""
    if before is None or at <= before[1] or count < before[0]:
        return None
    return (count - before[0]) / (at - before[1])


async def _page(client: httpx.AsyncClient, page: Page) -> str:
    """The page as text, cut at a mebibyte."""
    body = b""
    async with client.stream("GET", page.address) as answer:
        if answer.status_code != 200:
            return ""
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) >= MOST_PAGE:
                break
    return body[:MOST_PAGE].decode("utf-8", "replace")
