"""Output of attempts on its way to the portal: by offset, resumable, within a third of a second."""

import asyncio
import codecs
import contextlib
import logging
from pathlib import Path
from typing import NamedTuple

from nodeagent import clock, disk
from nodeagent.link import CutOff, Link, NotTaken
from nodeagent.protocol.samples import LogBatch, LogChunk
from nodeagent.records import Record
from nodeagent.runners.base import Runner

log = logging.getLogger(__name__)

LOOK_S = 0.2
CHUNK_BYTES = 128 * 1024
BATCH_BYTES = 1024 * 1024
LONGEST_CHARACTER = 4
NUL = "\x00"


class Piece(NamedTuple):
    """Output as it lies on the disk. `torn`: what follows its last byte is forgotten for good."""

    offset: int
    body: bytes
    torn: bool = False


def piece(folder: Path, offset: int, most: int) -> Piece:
    """Output from `offset` on, over as many segments as join. A forgotten middle is jumped over."""
    try:
        segments = sorted((int(path.name), path) for path in (folder / "log").iterdir())
    except (OSError, ValueError):
        return Piece(offset, b"")
    begun, body = offset, b""
    for begin, path in segments:
        if body and begin != begun + len(body):
            return Piece(begun, body, torn=True)
        with contextlib.suppress(OSError):
            at = max(begun + len(body), begin)
            more = _bytes(path, at - begin, most - len(body))
            begun = begun if body or not more else at
            body += more
        if len(body) >= most:
            break
    return Piece(begun, body)


def _bytes(path: Path, at: int, most: int) -> bytes:
    if at >= path.stat().st_size:
        return b""
    with path.open("rb") as file:
        file.seek(at)
        return file.read(most)


def whole_characters(body: bytes) -> int:
    """How many bytes of the piece end with a whole character."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    decoder.decode(body)
    return len(body) - len(decoder.getstate()[0])


class Logs:
    """What the portal has of each output. The mark is on disk; a lost mark only repeats."""

    def __init__(self, runner: Runner, link: Link) -> None:
        self._runner = runner
        self._link = link
        self._sent: dict[str, int] = {}

    def pending(self, record: Record) -> bool:
        """Is there output that the portal does not have?"""
        return bool(piece(record.folder, self._mark(record), 1).body)

    def busy(self) -> bool:
        """Is there anything to look after: an attempt that runs, or output not yet handed in?"""
        return any(r.ended_at is None or self.pending(r) for r in self._runner.records.values())

    async def run(self, begun: asyncio.Event) -> None:
        """Hand in what is new, for ever. Looks only while something runs; sleeps otherwise."""
        while True:
            if not self.busy():
                begun.clear()
                await begun.wait()
            wait = LOOK_S
            try:
                while await self.send():
                    wait = LOOK_S
            except CutOff:
                wait = 2.0
            await asyncio.sleep(wait)

    async def send(self) -> bool:
        """One batch; False when there was nothing to send.

        Raises:
            CutOff
        """
        chunks = self._collect()
        if not chunks:
            return False
        try:
            await self._link.logs(LogBatch(sent_at=clock.wall(), chunks=tuple(chunks)))
        except NotTaken as failure:
            log.warning("output is lost, the portal refuses it: %s", failure)
        for chunk in chunks:
            self._note(chunk.attempt, chunk.offset + chunk.size)
        return True

    def _collect(self) -> list[LogChunk]:
        chunks: list[LogChunk] = []
        room = BATCH_BYTES
        for record in list(self._runner.records.values()):
            most = min(CHUNK_BYTES, room)
            found = piece(record.folder, self._mark(record), most)
            body = found.body
            if not (found.torn or (record.ended_at is not None and len(body) < most)):
                # The rest of a last character is yet to come.
                body = body[: whole_characters(body)]
            if body:
                room -= len(body)
                text = body.decode("utf-8", "replace").replace(NUL, "\ufffd")
                chunks.append(
                    LogChunk(
                        attempt=record.attempt,
                        rank=record.rank,
                        offset=found.offset,
                        text=text,
                        size=len(body),
                    )
                )
            if room < LONGEST_CHARACTER:
                break
        return chunks

    def _mark(self, record: Record) -> int:
        if record.attempt not in self._sent:
            said = disk.read_pairs(record.folder / "shipped") or {}
            self._sent[record.attempt] = int(said.get("offset", "0"))
        return self._sent[record.attempt]

    def _note(self, attempt: str, offset: int) -> None:
        self._sent[attempt] = offset
        record = self._runner.records.get(attempt)
        if record is None:
            self._sent.pop(attempt, None)
            return
        with contextlib.suppress(OSError):
            disk.write_pairs(record.folder / "shipped", {"offset": offset}, sync=False)
