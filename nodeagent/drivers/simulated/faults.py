"""Scripted faults of a simulated node: a file that is read again whenever it changes."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from nodeagent.drivers.base import Busy, DriverError, Lost, NotSupported, Refused

ERRORS: dict[str, type[DriverError]] = {
    "refused": Refused,
    "busy": Busy,
    "lost": Lost,
    "not_supported": NotSupported,
}
HANG_S = 3600.0
LATE = frozenset({"hang", "delay", "rubbish"})
"""Faults that are no refusal: no answer, a late one, or one that makes no sense."""

CALLS = frozenset({"create", "delete", "mode", "clean", "health", "sample"})


@dataclass
class Fault:
    """One line of the script: what fails, on which card, how, and how often (None: always).

    `seconds` is how late an answer is that is only delayed.
    """

    at: str
    card: str
    error: str
    profile: str
    reason: str
    left: int | None
    seconds: float = 0.0

    def meets(self, at: str, card: str, index: int, profile: str) -> bool:
        """Is this call meant?"""
        return (
            self.at == at
            and self.left != 0
            and self.card in ("*", card, str(index))
            and self.profile in ("*", profile)
        )


@dataclass
class Script:
    """Everything the file says; the defaults are a healthy node."""

    create_delay_s: float = 0.2
    delete_delay_s: float = 0.2
    mode_delay_s: float = 0.1
    start_delay_s: float = 0.0
    boot: int = 0
    shuffle: int = 0
    faults: list[Fault] = field(default_factory=list)
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)
    slices: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of_slice(self, uid: str) -> dict[str, Any]:
        """What the script says of one slice."""
        return self.slices.get(uid) or {}

    def hinders(self, at: str) -> bool:
        """May this kind of call fail at all?"""
        return any(fault.at == at and fault.left != 0 for fault in self.faults)

    def of_card(self, card: str, index: int) -> dict[str, Any]:
        """What the script says of one card's health and meters."""
        return self.cards.get(card) or self.cards.get(str(index)) or {}


class Faults:
    """The script as it stands now. A file that cannot be read leaves the last good one in force."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._script = Script()

    def now(self) -> Script:
        """Read again when the file has changed."""
        try:
            stat = self._path.stat()
        except OSError:
            seen = None
        else:
            seen = (stat.st_mtime_ns, stat.st_size)
        if seen != self._seen:
            self._seen = seen
            self._script = Script() if seen is None else self._read() or self._script
        return self._script

    async def strike(self, at: str, card: str, index: int, profile: str = "") -> bool:
        """Fail as the script wants this call to fail, or return; true when the answer is rubbish.

        Raises:
            NotSupported, Busy, Lost, Refused
        """
        for fault in self.now().faults:
            if fault.meets(at, card, index, profile):
                if fault.left is not None:
                    fault.left -= 1
                if fault.error in ERRORS:
                    raise ERRORS[fault.error](fault.reason)
                if fault.error == "rubbish":
                    return True
                await asyncio.sleep(HANG_S if fault.error == "hang" else fault.seconds)
        return False

    def _read(self) -> Script | None:
        try:
            loaded = yaml.safe_load(self._path.read_text(encoding="utf-8")) or {}
            return Script(
                create_delay_s=float(loaded.get("create_delay_s", 0.2)),
                delete_delay_s=float(loaded.get("delete_delay_s", 0.2)),
                mode_delay_s=float(loaded.get("mode_delay_s", 0.1)),
                start_delay_s=float(loaded.get("start_delay_s", 0.0)),
                boot=int(loaded.get("boot", 0)),
                faults=[_fault(entry) for entry in loaded.get("faults") or []],
                shuffle=int(loaded.get("shuffle", 0)),
                cards={str(k): dict(v) for k, v in (loaded.get("cards") or {}).items()},
                slices={str(k): dict(v) for k, v in (loaded.get("slices") or {}).items()},
            )
        except (OSError, ValueError, TypeError, AttributeError, KeyError, yaml.YAMLError):
            return None


def _fault(entry: dict[str, Any]) -> Fault:
    error = str(entry.get("error", "refused"))
    if error not in LATE and error not in ERRORS:
        raise ValueError(f"unknown error {error!r}")
    if str(entry["at"]) not in CALLS:
        raise ValueError(f"unknown call {entry['at']!r}")
    return Fault(
        at=str(entry["at"]),
        card=str(entry.get("card", "*")),
        error=error,
        profile=str(entry.get("profile", "*")),
        reason=str(entry.get("reason", f"scripted: {error}")),
        left=None if entry.get("times") is None else int(entry["times"]),
        seconds=float(entry.get("seconds", 0.0)),
    )
