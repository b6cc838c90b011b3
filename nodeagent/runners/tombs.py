"""Attempts whose end the books have taken in: remembered in short, so that none ever runs again.

A portal restored from a backup lists attempts that ended since; they are answered from here.
"""

import contextlib
from pathlib import Path

import msgspec

from nodeagent.protocol.report import FoundWork

KEPT = 20_000
"""Newest ends that are remembered; the file is cut down when it holds twice as many."""


class Tombs:
    """One line of JSON for each forgotten attempt, newest last."""

    def __init__(self, path: Path, kept: int = KEPT) -> None:
        self._path = path
        self._kept = kept
        self._lines: dict[str, bytes] = {}
        self._load()

    def bury(self, end: FoundWork) -> None:
        """Remember how this attempt ended; a full disk costs only the memory of it."""
        line = msgspec.json.encode(end)
        self._lines[end.attempt] = line
        with contextlib.suppress(OSError), self._path.open("ab") as file:
            file.write(line + b"\n")
        if len(self._lines) > 2 * self._kept:
            self._cut()

    def find(self, attempt: str) -> FoundWork | None:
        """The end of an attempt that was forgotten, as it was reported."""
        line = self._lines.get(attempt)
        return None if line is None else msgspec.json.decode(line, type=FoundWork)

    def _load(self) -> None:
        body = b""
        with contextlib.suppress(OSError):
            body = self._path.read_bytes()
        for line in body.splitlines():
            with contextlib.suppress(msgspec.MsgspecError):
                self._lines[msgspec.json.decode(line, type=FoundWork).attempt] = line
        if len(self._lines) > self._kept or not body.endswith(b"\n"):
            self._cut()

    def _cut(self) -> None:
        newest = list(self._lines.items())[-self._kept :]
        self._lines = dict(newest)
        beside = self._path.with_suffix(".new")
        with contextlib.suppress(OSError):
            beside.write_bytes(b"".join(line + b"\n" for line in self._lines.values()))
            beside.replace(self._path)
