"""One node's AMD cards: its library where that is, else its programs."""

from collections.abc import Callable
from typing import Any

from nodeagent.drivers.amd import library, tools
from nodeagent.drivers.amd.cards import Entry, card, reading
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

    def __init__(self, programs: Programs, load: Callable[[], Any] = library.load) -> None:
        self._programs = programs
        self._load = load
        self._module: Any = None

    def cards(self) -> tuple[Card, ...]:
        """The boards."""
        try:
            self._module = self._load()
        except NotSupported:
            self._module = None
        return tuple(card(one) for one in self._boards())

    def readings(self, at: float) -> tuple[Reading, ...]:
        """Of a board that is parted, power and activity are told for partition 0 alone."""
        return tuple(reading(at, one) for one in self._boards())

    def health(self) -> tuple[CardHealth, ...]:
        """A board that is listed lives."""
        return tuple(CardHealth(uuid=one.uuid, health="ok") for one in self._boards())

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
        number = 128 + card.index
        if share is not None and share.device.isdigit():
            number = 128 + int(share.device)
        return ("/dev/kfd", f"/dev/dri/renderD{number}")

    def _entries(self) -> tuple[Entry, ...]:
        if self._module is not None:
            return library.entries(self._module)
        return tools.entries(self._programs)

    def _boards(self) -> tuple[Entry, ...]:
        return tuple(one for one in self._entries() if one.partition == 0 and one.memory_mib > 0)

    def _index(self, card: Card) -> int:
        for one in self._boards():
            if one.uuid == card.uuid or one.bdf == card.pci:
                return one.index
        raise Busy("the card is not listed now")

    def _parts(self, card: Card) -> list[str]:
        """Numbers under which the runtime sees the board's partitions, in their order."""
        rows = [one for one in self._entries() if one.bdf == card.pci]
        return [str(one.index) for one in sorted(rows, key=lambda one: one.partition)]
