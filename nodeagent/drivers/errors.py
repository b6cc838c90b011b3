"""Errors that cards tell of: written down before they are told, so a restart heals nothing.

What each asks for stands in `facts/xid.json`. A clean period is counted by the portal; an error
that asks for a reset lasts until the machine has booted anew.
"""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from nodeagent import clock, disk
from nodeagent.drivers.published import read
from nodeagent.protocol.report import CardError, CardHealth

log = logging.getLogger(__name__)

KEPT = 8
"""Errors that are told of one card; older ones have been told many times."""

WARN, WORKLOAD, CLEAN_PERIOD, RESET = "warn", "workload", "clean_period", "reset"
CORRECTED, UNCORRECTED = "corrected", "uncorrected"
KINDS = (CORRECTED, UNCORRECTED)
"""Of memory errors, the worse one last."""

SAME_S = 30.0
"""An event and a count of one kind that rises within this time are the same error."""

UNKNOWN_XID = 999
"""What the library says when it does not know the number itself."""


def asks(number: int) -> str:
    """What an XID asks for."""
    for row in read("xid.json")["actions"]:
        if number in row["xids"]:
            return str(row["asks"])
    return WARN


def memory_asks(kind: str) -> str:
    """What a memory error of a kind asks for."""
    return str(read("xid.json")["memory"][kind])


def words(number: int) -> str:
    """An XID in plain words."""
    said: str | None = read("xid.json")["words"].get(str(number))
    return f"XID {number}" if said is None else f"XID {number}: {said}"


class CardErrors:
    """The newest errors of each card of one node, on disk."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._boot = ""
        self._seq = 0
        self._cards: dict[str, list[CardError]] = {}
        self._counts: dict[str, tuple[int | None, int | None]] = {}
        self._told_at: dict[tuple[str, str], float] = {}

    def open(self, boot: str) -> None:
        """Read what was told before. Another boot has reset every card: its errors are over."""
        said = disk.read_json(self._file) or {}
        self._boot = boot
        self._seq = int(said.get("seq", 0))
        if said.get("boot") == boot:
            counts: dict[str, list[int | None]] = said.get("counts", {})
            self._counts = {card: (pair[0], pair[1]) for card, pair in counts.items()}
            rows: dict[str, list[dict[str, Any]]] = said.get("cards", {})
            self._cards = {
                card: [msgspec.convert(one, CardError) for one in kept]
                for card, kept in rows.items()
            }

    def rebooted(self, boot: str) -> None:
        """The node was booted anew while this agent lives on: only simulated ones are."""
        if boot != self._boot:
            self._boot = boot
            self._cards.clear()
            self._counts.clear()
            self._write()

    def saw(self, card: str, number: int, uid: str = "") -> str:
        """An XID; returns what it asks for."""
        what = asks(number)
        self._add(card, number, what, words(number), uid)
        return what

    def counted(self, card: str, corrected: int | None, uncorrected: int | None) -> None:
        """Memory errors so far. Each rise is told and asks for what its kind asks for.

        The counts outlive the agent: what rose while there was none is told by the next one. They
        begin anew when the driver is loaded. The first count of a kind is no rise: it may be old.
        """
        before = self._counts.get(card, (None, None))
        now = (
            before[0] if corrected is None else corrected,
            before[1] if uncorrected is None else uncorrected,
        )
        if now == before:
            return
        self._counts[card] = now
        counts = zip(KINDS, before, now, strict=True)
        rose = [kind for kind, then, new in counts if then is not None and (new or 0) > then]
        fresh = [kind for kind in rose if not self._just_told(card, kind)]
        if fresh:
            said = f"memory errors: {now[0] or 0} corrected, {now[1] or 0} uncorrected"
            self._add(card, 0, memory_asks(fresh[-1]), said, "")
        else:
            self._write()

    def memory(self, card: str, kind: str, uid: str = "") -> None:
        """A memory error as it happens; told once, though the card's count rises for it as well."""
        if not self._just_told(card, kind):
            self._add(card, 0, memory_asks(kind), f"memory error: {kind}", uid)

    def _just_told(self, card: str, kind: str) -> bool:
        """Whether it is the one that was told a moment ago; from now on it was."""
        before, at = self._told_at.get((card, kind)), clock.boottime()
        if before is None or at - before > SAME_S:
            self._told_at[card, kind] = at
            return False
        return True

    def lasting(self, card: str) -> CardError | None:
        """The error that keeps the card out until it is reset."""
        return next((one for one in self._cards.get(card, ()) if one.asks == RESET), None)

    def with_errors(self, health: CardHealth) -> CardHealth:
        """The card's word, with its errors beside it; one that lasts wins over a good word."""
        kept = tuple(self._cards.get(health.uuid, ()))
        xids = tuple(dict.fromkeys((*health.xids, *(one.number for one in kept if one.number))))
        health = replace(health, errors=kept, xids=xids)
        lasts = self.lasting(health.uuid)
        if lasts is not None and health.health != "lost":
            return replace(health, health="reset_needed", reason=lasts.words)
        return health

    def told(self, rows: Iterable[CardHealth]) -> tuple[CardHealth, ...]:
        """The same for many."""
        return tuple(self.with_errors(row) for row in rows)

    def _add(self, card: str, number: int, what: str, said: str, uid: str) -> None:
        self._seq = max(self._seq + 1, int(clock.wall() * 1000))
        one = CardError(seq=self._seq, number=number, asks=what, words=said, slice=uid)
        kept = [*self._cards.get(card, ()), one]
        lasts = [row for row in kept[:-KEPT] if row.asks == RESET][:1]
        self._cards[card] = [*lasts, *kept[-KEPT:]]
        self._write()

    def _write(self) -> None:
        rows = {c: [msgspec.to_builtins(one) for one in kept] for c, kept in self._cards.items()}
        said = {"boot": self._boot, "seq": self._seq, "cards": rows, "counts": self._counts}
        try:
            disk.write_json(self._file, said)
        except OSError as full:
            log.warning("errors of cards are known until the agent ends only: %s", full)
