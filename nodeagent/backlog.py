"""Rows of readings that the portal has not taken yet: the newest in memory, older ones on disk.

They are sent late with true times: how long ago each was read is counted on the clock that no
step of the wall clock moves, for as long as the machine was not booted anew.
"""

import contextlib
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from nodeagent import clock, disk
from nodeagent.protocol.samples import SampleBatch

IN_MEMORY = 6
"""Batches that wait in memory, one a row of ten seconds; what is older lies on disk."""

MOST_BYTES = 64 * 1024 * 1024
OLDEST_S = 86_400.0
"""The portal takes nothing that is older."""


class Kept(msgspec.Struct, frozen=True):
    """One batch with the moment at which it was packed, on both clocks of that boot."""

    boot: str
    boottime: float
    wall: float
    batch: SampleBatch


@dataclass(frozen=True)
class _File:
    path: Path
    size: int


class Backlog:
    """Batches in the order in which they were packed. Without a folder all of it is in memory."""

    def __init__(self, folder: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most = most_bytes
        self._files: deque[_File] = deque()
        self._memory: deque[Kept] = deque(maxlen=None if folder else 360)
        if folder is not None:
            self._open(folder)

    def __len__(self) -> int:
        return len(self._files) + len(self._memory)

    def put(self, batch: SampleBatch) -> None:
        """Keep one more; what is over the bound is forgotten, the oldest first."""
        kept = Kept(clock.boot_id(), clock.boottime(), clock.wall(), batch)
        self._memory.append(kept)
        while self._folder is not None and len(self._memory) > IN_MEMORY:
            self._spill(self._memory.popleft(), self._folder)

    def oldest(self) -> SampleBatch | None:
        """The batch that is next to be sent, its times true for this very moment."""
        while self._files:
            kept = self._read(self._files[0].path)
            if kept is not None and clock.wall() - kept.wall <= OLDEST_S:
                return _aged(kept)
            self._forget()
        return _aged(self._memory[0]) if self._memory else None

    def taken(self, batch: SampleBatch) -> None:
        """The portal has it."""
        if self._files:
            kept = self._read(self._files[0].path)
            if kept is None or _same(kept.batch, batch):
                self._forget()
        elif self._memory and _same(self._memory[0].batch, batch):
            self._memory.popleft()

    def save(self) -> None:
        """Put everything on disk: this agent ends."""
        while self._folder is not None and self._memory:
            self._spill(self._memory.popleft(), self._folder)

    def _open(self, folder: Path) -> None:
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path in sorted(folder.glob("*.json")):
                self._files.append(_File(path, path.stat().st_size))

    def _spill(self, kept: Kept, folder: Path) -> None:
        body = msgspec.json.encode(kept)
        path = folder / f"{int(kept.wall * 1000):015d}-{kept.batch.sequence:015d}.json"
        with contextlib.suppress(OSError):  # a full disk: this row is lost, the agent is not
            disk.write_whole(path, body, sync=False)
            self._files.append(_File(path, len(body)))
        while sum(one.size for one in self._files) > self._most:
            self._forget()

    def _forget(self) -> None:
        with contextlib.suppress(OSError):
            self._files.popleft().path.unlink()

    def _read(self, path: Path) -> Kept | None:
        try:
            return msgspec.json.decode(path.read_bytes(), type=Kept)
        except (OSError, msgspec.DecodeError):
            return None


def _same(one: SampleBatch, other: SampleBatch) -> bool:
    return (one.boot_id, one.sequence) == (other.boot_id, other.sequence)


def _aged(kept: Kept) -> SampleBatch:
    """The batch as if it were sent now: every reading keeps its age."""
    now = clock.wall()
    waited = now - kept.wall
    if kept.boot == clock.boot_id():
        waited = clock.boottime() - kept.boottime
    moved = now - waited - kept.wall
    readings = tuple(replace(one, at=one.at + moved) for one in kept.batch.readings)
    return replace(kept.batch, sent_at=now, readings=readings)
