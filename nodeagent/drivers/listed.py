"""Cards that a vendor's own program lists: one driver for all, one source for each vendor."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from msgspec.structs import replace

from nodeagent import clock
from nodeagent.drivers import machine
from nodeagent.drivers.base import Busy, Load, Lost, NotSupported, Refused, beside, kept
from nodeagent.drivers.errors import CardErrors
from nodeagent.drivers.exporter import Exporter
from nodeagent.drivers.patience import Patience
from nodeagent.drivers.shares import Share, Shares
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Card, Host
from nodeagent.protocol.report import CardHealth, FoundSlice
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import Mode

T = TypeVar("T")

PROGRAM = "program"
LOOK_S = 8.0
"""These programs take seconds; they list all cards at once."""

OPEN_S = 60.0
ACT_S = 60.0


class Source(Protocol):
    """One vendor. The calls block and may take seconds. An unknown value is None, never 0."""

    name: str
    mode: Mode

    def cards(self) -> tuple[Card, ...]:
        """What is there and how each card is cut.

        Raises:
            NotSupported: there is no such vendor's card or program here.
        """

    def readings(self, at: float) -> tuple[Reading, ...]:
        """One row a card.

        Raises:
            NotSupported, Busy, Refused
        """

    def health(self) -> tuple[CardHealth, ...]:
        """How each card does.

        Raises:
            NotSupported, Busy, Refused
        """

    def cut(self, card: Card, wanted: WantedSlice, beside: dict[str, Share]) -> str:
        """Make one slice of the vendor's own kind; returns its device.

        Raises:
            NotSupported, Busy, Refused
        """

    def uncut(self, card: Card, share: Share, beside: dict[str, Share]) -> None:
        """Take it away; gone is gone.

        Raises:
            Busy, Refused
        """

    def files(self, card: Card, share: Share | None) -> tuple[str, ...]:
        """Files under /dev that a holder must be able to open.

        Raises:
            Busy: it is not known now which they are.
        """

    def seen(self, shares: dict[str, Share], cards: dict[str, Card]) -> dict[str, str]:
        """What the vendor's runtime calls these cut slices now; one that is not found is left out.

        Raises:
            NotSupported, Busy, Refused
        """


class ListedDriver:
    """This machine's cards of one vendor: handed out whole, or cut in the vendor's own way."""

    def __init__(
        self,
        state_dir: Path,
        source: Source,
        carve: bool = False,
        exporter: Exporter | None = None,
    ) -> None:
        self.name = source.name
        self._source = source
        self._carve = carve
        self._exporter = exporter
        self._state_dir = state_dir
        self._shares = Shares(state_dir / "slices.json")
        self._errors = CardErrors(state_dir / "errors.json")
        self._patience = Patience()
        self._cards: dict[str, Card] = {}
        self._seen: dict[str, str] = {}

    async def open(self) -> None:
        """Look; without the vendor's program the node has none of its cards."""
        self._errors.open(self.boot_id())
        found: tuple[Card, ...] = ()
        with contextlib.suppress(Lost, NotSupported, Busy, Refused):
            found = await self._ask("open", self._source.cards, OPEN_S)
        self._cards = {card.uuid: self._offered(card) for card in found}
        self._shares.open(self._cards)
        with contextlib.suppress(Lost, NotSupported, Busy, Refused):
            await self._ask("places", self._look, OPEN_S)

    def _look(self) -> None:
        """What the cut slices are called now; until it is told again nobody knows."""
        self._seen = {}
        cut = {
            uid: share
            for card in self._cards
            for uid, share in self._shares.on(card).items()
            if share.mode != Mode.WHOLE
        }
        if cut:
            self._seen = self._source.seen(cut, self._cards)

    def _named(self, row: FoundSlice) -> FoundSlice:
        """With the name that a job's runtime knows it by."""
        return replace(row, device=self._seen.get(row.uid or "", row.device))

    def _offered(self, card: Card) -> Card:
        if self._carve:
            return card
        whole = tuple(cut for cut in card.geometries if cut.mode == Mode.WHOLE)
        kept = tuple(one for one in card.abilities if one.mode == Mode.WHOLE)
        return replace(card, modes=(Mode.WHOLE,), geometries=whole, abilities=kept)

    def boot_id(self) -> str:
        """The machine's own."""
        return clock.boot_id()

    async def host(self) -> Host:
        """Processors, memory, disk of this machine."""
        return machine.host(self._state_dir)

    async def inventory(self) -> tuple[Card, ...]:
        """The cards that were listed when the agent started."""
        return tuple(self._cards.values())

    async def modes(self) -> dict[str, Mode]:
        """What each card was put into."""
        return {uuid: self._shares.mode(uuid) for uuid in self._cards}

    async def slices(self) -> tuple[FoundSlice, ...]:
        """Those that were agreed on."""
        return tuple(self._named(row) for row in self._shares.found(self._cards))

    async def set_mode(self, card: str, mode: Mode) -> None:
        """Only remembered: the card itself changes with its first slice, and with its last."""
        one = self._card(card)
        if self._shares.mode(card) == mode:
            return
        if mode not in one.modes:
            raise NotSupported(f"this card has no mode {mode}")
        if self._shares.on(card):
            raise Busy("the card is handed out")
        self._shares.enter(card, mode)

    async def create_slice(self, wanted: WantedSlice) -> FoundSlice:
        """Give the whole card a name, or cut it in the vendor's own way."""
        card = self._card(wanted.card)
        if self._shares.knows(wanted.uid):
            return self._named(self._shares.row(wanted.uid))
        if wanted.mode not in card.modes:
            raise NotSupported(f"this card has no mode {wanted.mode}")
        if self._shares.mode(card.uuid) != wanted.mode:
            raise Refused(f"the card is in mode {self._shares.mode(card.uuid)}, not {wanted.mode}")
        return await self._ask(f"create {wanted.uid}", lambda: self._make(card, wanted), ACT_S)

    def _make(self, card: Card, wanted: WantedSlice) -> FoundSlice:
        self._shares.check(wanted, card)
        device = card.uuid
        if wanted.mode != Mode.WHOLE:
            device = self._source.cut(card, wanted, self._shares.on(card.uuid))
        row = self._shares.take(wanted, card, device)
        if wanted.mode != Mode.WHOLE:
            with contextlib.suppress(NotSupported, Busy, Refused):
                self._look()
        return self._named(row)

    async def delete_slice(self, uid: str) -> None:
        """Take the slice away; gone is gone."""
        if self._shares.knows(uid):
            await self._ask(f"delete {uid}", lambda: self._unmake(uid), ACT_S)

    def _unmake(self, uid: str) -> None:
        share = self._shares.of(uid)
        if share is not None and share.mode != Mode.WHOLE and share.card in self._cards:
            beside = {u: one for u, one in self._shares.on(share.card).items() if u != uid}
            self._source.uncut(self._cards[share.card], share, beside)
        self._shares.drop(uid)
        with contextlib.suppress(NotSupported, Busy, Refused):
            self._look()

    async def clean_slice(self, uid: str) -> None:
        """A whole card's memory is back. Of a part of one the vendor's program tells nothing, and
        on a contested card what is taken may be a stranger's: both are believed.
        """
        share = self._shares.of(uid)
        if share is None or share.mode != Mode.WHOLE or share.card not in self._cards:
            return
        card = self._cards[share.card]
        size = card.memory_mib
        free = await self.free_mib(self._shares.row(uid))
        if free is None or size - free <= size * kept(card.vendor):
            return
        told = {one.uuid: one for one in await self.health()}
        if not told[share.card].foreign:
            raise Busy(f"{size - free} of {size} MiB are still taken")

    def start_delay_s(self) -> float:
        """Real cards take the time that they take."""
        return 0.0

    def environment(self, uid: str) -> dict[str, str]:
        """Nothing beside its device."""
        return {}

    async def device_nodes(self, slices: tuple[FoundSlice, ...]) -> tuple[str, ...]:
        """The vendor's files of these cards.

        Raises:
            Busy: a cut slice is called something else by now, or is not found: it is looked at
                again before anything starts on it.
        """
        names: dict[str, None] = {}
        if any(_cut(one) for one in slices):
            await self._ask("places", self._look, LOOK_S)
            if any(self._seen.get(one.uid or "") != one.device for one in slices if _cut(one)):
                raise Busy("the numbers of the card's partitions have moved")
        for one in slices:
            if one.card in self._cards:
                share = self._shares.of(one.uid or "")
                names |= dict.fromkeys(self._source.files(self._cards[one.card], share))
        return tuple(names)

    async def free_mib(self, one: FoundSlice) -> int | None:
        """What the last reading leaves of the card's memory."""
        for row in await self._rows(clock.wall()):
            if row.card == one.card and row.memory_mib_mean is not None:
                return self._cards[one.card].memory_mib - round(row.memory_mib_mean)
        return None

    async def health(self) -> tuple[CardHealth, ...]:
        """What the program says of each card; cards that it leaves out are lost."""
        try:
            told = {one.uuid: one for one in await self._ask("health", self._source.health, LOOK_S)}
        except (Lost, NotSupported, Busy, Refused) as failure:
            silent = [CardHealth(uuid=u, health="silent", reason=str(failure)) for u in self._cards]
            return self._errors.told(silent)
        gone = "the vendor's program does not list it any more"
        rows = [told.get(u) or CardHealth(uuid=u, health="lost", reason=gone) for u in self._cards]
        return self._errors.told(rows)

    async def sample(self, at: float, loads: tuple[Load, ...]) -> tuple[Reading, ...]:
        """One reading per card, and the same for a slice that is the whole card."""
        rows: list[Reading] = []
        by_slice = {load.slice: load for load in loads}
        for row in await self._rows(at):
            self._errors.counted(row.card, row.ecc_corrected, row.ecc_uncorrected)
            rows.append(row)
            for uid, share in self._shares.on(row.card).items():
                base = row if share.mode == Mode.WHOLE else Reading(at=at, card=row.card)
                rows.append(beside(base, uid, by_slice.get(uid)))
        if self._exporter is None:
            return tuple(rows)
        return await self._exporter.fill(tuple(rows), tuple(self._cards.values()), {})

    async def _rows(self, at: float) -> tuple[Reading, ...]:
        with contextlib.suppress(Lost, NotSupported, Busy, Refused):
            rows = await self._ask("meters", lambda: self._source.readings(at), LOOK_S)
            return tuple(row for row in rows if row.card in self._cards)
        return ()

    def _card(self, uuid: str) -> Card:
        if uuid not in self._cards:
            raise Lost(f"no card {uuid} in this node")
        return self._cards[uuid]

    async def _ask(self, question: str, call: Callable[[], T], limit_s: float) -> T:
        return await self._patience.ask(PROGRAM, question, call, limit_s)


def _cut(row: FoundSlice) -> bool:
    return row.mode != Mode.WHOLE
