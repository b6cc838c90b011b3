"""One node's AMD cards: its library where that is, else its programs."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from nodeagent.drivers.amd import library, occupants, tools
from nodeagent.drivers.amd.cards import Entry, card, reading, whole_mib
from nodeagent.drivers.amd.nodes import SYS, render_node
from nodeagent.drivers.base import Busy, NotSupported, Refused
from nodeagent.drivers.programs import Programs
from nodeagent.drivers.shares import Share
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Card
from nodeagent.protocol.report import CardHealth
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import Mode

WHOLE = "SPX"


class Amd:
    """A board and its partitions are listed side by side; the board is the one numbered 0."""

    name = "amd"
    mode = Mode.AMD_PARTITION

    def __init__(
        self, programs: Programs, load: Callable[[], Any] = library.load, sys: Path = SYS
    ) -> None:
        self._programs = programs
        self._sys = sys
        self._load = load
        self._module: Any = None

    def cards(self) -> tuple[Card, ...]:
        """The boards, numbered by their order: the tool's numbers move when any board is cut."""
        try:
            self._module = self._load()
        except NotSupported:
            self._module = None
        boards = enumerate(self._boards())
        return tuple(card(replace(one, index=place)) for place, one in boards)

    def readings(self, at: float) -> tuple[Reading, ...]:
        """Of a board that is parted, power and activity are told for partition 0 alone."""
        return tuple(reading(at, one) for one in self._boards())

    def health(self) -> tuple[CardHealth, ...]:
        """A board that is listed lives; processes of strangers make it contested."""
        entries = self._entries()
        pids = self._pids()
        return tuple(
            occupants.health(board, [one for one in entries if one.bdf == board.bdf], pids)
            for board in _boards(entries)
        )

    def cut(self, card: Card, wanted: WantedSlice, beside: dict[str, Share]) -> str:
        """The first slice parts the whole board; every later one must be of the same kind."""
        kind = wanted.profile.split(".")[0].upper()
        if any(one.profile != wanted.profile for one in beside.values()):
            raise Refused("all partitions of one card are alike")
        if not beside:
            tools.part(self._programs, self._index(card), kind)
        taken = {one.device for one in beside.values()}
        for place in self._parts(card):
            if place not in taken:
                return place
        raise Refused(f"the card has no free partition of {wanted.profile}")

    def uncut(self, card: Card, share: Share, beside: dict[str, Share]) -> None:
        """The board is whole again when its last partition is given back."""
        if not beside:
            tools.part(self._programs, self._index(card), WHOLE)

    def files(self, card: Card, share: Share | None) -> tuple[str, ...]:
        """The compute device of all cards, and the card's own render device."""
        partition = None
        if share is not None and share.mode == Mode.AMD_PARTITION:
            partition = _partition(card, share)
        return ("/dev/kfd", render_node(card.pci or "", partition, self._sys))

    def seen(self, shares: dict[str, Share], cards: dict[str, Card]) -> dict[str, str]:
        """The numbers that the runtime has for partitions now: they move when any board is cut."""
        rows = {(one.bdf, one.partition): str(one.index) for one in self._entries()}
        found = {}
        for uid, share in shares.items():
            card = cards[share.card]
            number = rows.get((card.pci or "", _partition(card, share)))
            if number is not None:
                found[uid] = number
        return found

    def _entries(self) -> tuple[Entry, ...]:
        if self._module is not None:
            return library.entries(self._module)
        return tools.entries(self._programs)

    def _pids(self) -> occupants.Pids:
        """A tool that is too old to tell, or fails at it, says nothing of strangers."""
        if self._module is not None:
            return occupants.of_library(self._module)
        with contextlib.suppress(NotSupported, Busy, Refused):
            return tools.occupants(self._programs)
        return {}

    def _boards(self) -> tuple[Entry, ...]:
        return _boards(self._entries())

    def _index(self, card: Card) -> int:
        for one in self._boards():
            if one.uuid == card.uuid or one.bdf == card.pci:
                return one.index
        raise Busy("the card is not listed now")

    def _parts(self, card: Card) -> list[str]:
        """The board's partitions by what never changes: its address and their place on it."""
        rows = sorted(one.partition for one in self._entries() if one.bdf == card.pci)
        return [f"{card.pci}/{one}" for one in rows]


def _boards(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Those numbered 0, with all the memory of their board however it is parted now."""
    return tuple(
        replace(one, memory_mib=whole_mib([part for part in entries if part.bdf == one.bdf]))
        for one in entries
        if one.partition == 0 and one.memory_mib > 0
    )


def _partition(card: Card, share: Share) -> int:
    """Its place on the board.

    Raises:
        Busy: it was made by a version that noted a mere number.
    """
    where, _, place = share.device.rpartition("/")
    if where != card.pci or not place.isdigit():
        raise Busy(f"nobody knows which partition {share.device} is: give the slice back")
    return int(place)
