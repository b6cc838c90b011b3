"""NVIDIA cards as the management library shows them: handed out whole, cut, or shared."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pynvml

from nodeagent import clock
from nodeagent.drivers import machine
from nodeagent.drivers.base import Busy, Load, Lost, NotSupported, Refused
from nodeagent.drivers.errors import CardErrors
from nodeagent.drivers.exporter import Exporter
from nodeagent.drivers.nvml import files, memory, mig, read
from nodeagent.drivers.nvml.carver import Carver
from nodeagent.drivers.nvml.events import Events
from nodeagent.drivers.nvml.meters import Meters, Part
from nodeagent.drivers.nvml.opening import Found, look
from nodeagent.drivers.patience import ACT_S, Patience
from nodeagent.drivers.shares import Shares
from nodeagent.drivers.sharing.base import Sharing
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Card, Host
from nodeagent.protocol.report import CardHealth, FoundSlice
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import Mode

T = TypeVar("T")

WHOLE_NODE = "library"
"""The line for questions to the library that are about no card."""

OPEN_S = 60.0
"""Loading the library wakes cards that sleep; it may take long."""


class NvmlDriver:
    """This machine's NVIDIA cards. Library calls run beside the loop, each within a limit.

    Without `carve` nothing on a card is ever changed: it is only given a name. `sharings` are the
    other ways of sharing that this node may be able to do; `exporter` fills what the library does
    not tell.
    """

    name = "nvml"

    def __init__(
        self,
        state_dir: Path,
        carve: bool = False,
        sharings: tuple[Sharing, ...] = (),
        exporter: Exporter | None = None,
    ) -> None:
        self._carve = carve
        self._exporter = exporter
        self._state_dir = state_dir
        self._carver = Carver(state_dir / "mig.json")
        self._sharings = {one.mode: one for one in sharings}
        self._shares = Shares(state_dir / "slices.json")
        self._errors = CardErrors(state_dir / "errors.json")
        self._events = Events()
        self._meters = Meters()
        self._patience = Patience()
        self._found = Found()
        self._last: dict[str, tuple[FoundSlice, ...]] = {}

    async def open(self) -> None:
        """Load the library and look; without it the node has no cards."""
        self._errors.open(self.boot_id())
        carve = self._carve
        sharings = tuple(self._sharings.values()) if carve else ()
        with contextlib.suppress(Lost, NotSupported):
            self._found = await self._ask(
                WHOLE_NODE, "open", lambda: look(self._state_dir, carve, sharings), OPEN_S
            )
        self._shares.open(self._found.cards)
        cards = {u: (self._found.handles[u], cut) for u, cut in self._found.cut.items()}
        self._carver.open(cards)
        for uuid in cards:
            with contextlib.suppress(Lost, NotSupported, Busy, Refused):
                await self._ask(uuid, "resume", lambda u=uuid: self._carver.resume(u), ACT_S)  # type: ignore[misc]
        if self._found.handles:
            with contextlib.suppress(Lost, NotSupported):
                await self._ask(
                    WHOLE_NODE, "events", lambda: self._events.open(self._found.handles), ACT_S
                )

    def boot_id(self) -> str:
        """The machine's own."""
        return clock.boot_id()

    async def host(self) -> Host:
        """Processors, memory, disk of this machine."""
        return machine.host(self._state_dir)

    async def inventory(self) -> tuple[Card, ...]:
        """The cards that were found when the agent started, and those that hid from it then."""
        return tuple(self._found.cards.values())

    async def modes(self) -> dict[str, Mode]:
        """The mode of each card; silent ones are absent, and so is a card in MIG mode that this
        agent may not carve: no process can use it whole."""
        handles = self._found.handles.keys()
        usable = {u for u, card in self._found.cards.items() if card.modes and u in handles}
        modes = {u: self._shares.mode(u) for u in usable - self._found.unread}
        for uuid in self._found.cut:
            modes.pop(uuid, None)
            with contextlib.suppress(Lost, NotSupported):
                mode = await self._ask(uuid, "mode", lambda u=uuid: self._carver.mode(u))  # type: ignore[misc]
                modes[uuid] = mode if mode == Mode.MIG else self._shares.mode(uuid)
        return modes

    async def slices(self) -> tuple[FoundSlice, ...]:
        """Shares and whole cards that were given a name, and the instances of cards in MIG."""
        rows = list(self._shares.found(self._found.cards))
        for uuid in self._found.cut:
            with contextlib.suppress(Lost, NotSupported):
                self._last[uuid] = await self._ask(
                    uuid,
                    "instances",
                    lambda u=uuid: self._carver.found(u),  # type: ignore[misc]
                )
            rows += self._last.get(uuid, ())
        return tuple(rows)

    async def set_mode(self, card: str, mode: Mode) -> None:
        """Leave the mode that an empty card is in and enter the other; it is never reset."""
        one = self._card(card)
        current = (await self.modes()).get(card)
        if current == mode:
            return
        if current is None:
            raise Lost("the card does not tell its mode")
        if mode not in one.modes:
            raise NotSupported(f"this card has no mode {mode}")
        if self._shares.on(card):
            raise Busy("the card is handed out")
        await self._ask(card, f"mode {mode}", lambda: self._move(one, current, mode), ACT_S)

    def _move(self, card: Card, current: Mode, mode: Mode) -> None:
        """From mode to mode by way of whole, one written step after the other."""
        if current == Mode.MIG:
            self._carver.switch(card.uuid, Mode.WHOLE)
        elif current in self._sharings:
            self._sharings[current].leave(card)
        self._shares.enter(card.uuid, Mode.WHOLE)
        if mode == Mode.MIG:
            self._carver.switch(card.uuid, mode)
        elif mode in self._sharings:
            self._sharings[mode].enter(card)
            self._shares.enter(card.uuid, mode)

    async def create_slice(self, wanted: WantedSlice) -> FoundSlice:
        """Give the card or a share of it a name, or cut an instance at exactly the place."""
        card = self._card(wanted.card)
        mode = (await self.modes()).get(wanted.card)
        if wanted.mode not in card.modes and not self._shares.knows(wanted.uid):
            raise NotSupported(f"this card has no mode {wanted.mode}")
        if mode != wanted.mode:
            raise Refused(f"the card is in mode {mode or 'unknown'}, not {wanted.mode}")
        if wanted.mode == Mode.MIG:
            return await self._ask(
                wanted.card, f"create {wanted.uid}", lambda: self._carver.create(wanted), ACT_S
            )
        return await self._ask(
            wanted.card, f"share {wanted.uid}", lambda: self._share(card, wanted), ACT_S
        )

    def _share(self, card: Card, wanted: WantedSlice) -> FoundSlice:
        if self._shares.knows(wanted.uid):
            return self._shares.row(wanted.uid)
        self._shares.check(wanted, card)
        sharing = self._sharings.get(wanted.mode)
        device = card.uuid
        if sharing is not None:
            device = sharing.create(card, wanted, self._shares.on(card.uuid))
        return self._shares.take(wanted, card, device)

    async def delete_slice(self, uid: str) -> None:
        """Take the name away, the share, or the instance off its card."""
        share = self._shares.of(uid)
        if share is not None:
            await self._ask(share.card, f"delete {uid}", lambda: self._unshare(uid), ACT_S)
            return
        card = self._carver.card_of(uid)
        if card is not None:
            await self._ask(card, f"delete {uid}", lambda: self._carver.delete(uid), ACT_S)

    def _unshare(self, uid: str) -> None:
        share = self._shares.of(uid)
        if share is None:
            return
        sharing = self._sharings.get(share.mode)
        if sharing is not None and share.card in self._found.cards:
            beside = {u: one for u, one in self._shares.on(share.card).items() if u != uid}
            sharing.delete(self._found.cards[share.card], uid, share, beside)
        self._shares.drop(uid)

    async def clean_slice(self, uid: str) -> None:
        """Its memory is back, but for what living processes of others hold."""
        share = self._shares.of(uid)
        card = self._carver.card_of(uid) if share is None else share.card
        if card is None or card not in self._found.handles:
            return
        device = self._carver.device_of(uid)
        try:
            why = await self._ask(
                card, f"left in {uid}", lambda: memory.left(self._memory_of(card, device))
            )
        except (NotSupported, Refused):
            return
        if why:
            raise Busy(why)

    def _memory_of(self, card: str, device: str) -> Any:
        """Whose memory is asked for: the instance's own, or the card's. Raises NVMLError."""
        return pynvml.nvmlDeviceGetHandleByUUID(device) if device else self._found.handles[card]

    def start_delay_s(self) -> float:
        """Real cards take the time that they take."""
        return 0.0

    def environment(self, uid: str) -> dict[str, str]:
        """What a job on this slice must be told beside its device."""
        share = self._shares.of(uid)
        sharing = None if share is None else self._sharings.get(share.mode)
        if share is None or sharing is None or share.card not in self._found.cards:
            return {}
        return sharing.environment(self._found.cards[share.card], uid, share)

    async def device_nodes(self, slices: tuple[FoundSlice, ...]) -> tuple[str, ...]:
        """The cards' own files; of an instance those of its capabilities as well."""
        names: dict[str, None] = {}
        for one in slices:
            handle = self._found.handles.get(one.card)
            if handle is None:
                continue
            minor = await self._ask(
                one.card,
                "minor",
                lambda h=handle: pynvml.nvmlDeviceGetMinorNumber(h),  # type: ignore[misc]
            )
            numbers = {uid: number for number, uid in self._carver.numbers(one.card).items()}
            instance = numbers.get(one.uid or "")
            cut = one.mode == Mode.MIG and instance is not None
            told = files.instance_files(minor, instance or 0) if cut else files.card_files(minor)
            names |= dict.fromkeys(told)
        return tuple(names)

    async def free_mib(self, one: FoundSlice) -> int | None:
        """Of an instance as the instance tells it; None when nobody tells."""
        card, device = one.card, one.device if one.mode == Mode.MIG else ""
        if card not in self._found.handles:
            return None
        with contextlib.suppress(NotSupported, Refused):
            return await self._ask(
                card, f"free {device}", lambda: memory.free_mib(self._memory_of(card, device))
            )
        return None

    async def health(self) -> tuple[CardHealth, ...]:
        """Each card is asked; work of strangers on it is named, never touched."""
        for one in self._events.heard():
            uid = self._carver.numbers(one.card).get(-1 if one.instance is None else one.instance)
            if one.memory:
                self._errors.memory(one.card, one.memory, uid or "")
            else:
                self._errors.saw(one.card, one.xid, uid or "")
        rows = await self._patience.all(
            {uuid: lambda u=uuid: self._health(u) for uuid in self._found.cards}  # type: ignore[misc]
        )
        return self._errors.told(rows)

    async def _health(self, uuid: str) -> CardHealth:
        handle = self._found.handles.get(uuid)
        if handle is None:
            return CardHealth(uuid=uuid, health="lost", reason="it did not tell who it is")
        slices = self._carver.numbers(uuid)
        serving = (one.hosts(self._found.cards[uuid]) for one in self._sharings.values())
        hosts = frozenset().union(*serving)
        try:
            return await self._ask(uuid, "health", lambda: read.health(uuid, handle, slices, hosts))
        except (Lost, NotSupported) as failure:
            return CardHealth(uuid=uuid, health=read.SILENT, reason=str(failure))

    async def sample(self, at: float, loads: tuple[Load, ...]) -> tuple[Reading, ...]:
        """One reading per card and per slice; a meter that is not told is None."""
        rows = await self._patience.all(
            {
                uuid: lambda u=uuid: self._sample(at, u, loads)  # type: ignore[misc]
                for uuid in self._found.handles
            }
        )
        told = tuple(row for of_card in rows for row in of_card)
        if self._exporter is None:
            return told
        numbers = {
            uid: number
            for card in self._found.cut
            for number, uid in self._carver.numbers(card).items()
        }
        return await self._exporter.fill(told, await self.inventory(), numbers)

    async def _sample(self, at: float, uuid: str, loads: tuple[Load, ...]) -> list[Reading]:
        handle = self._found.handles[uuid]
        parts = self._parts(uuid)
        try:
            rows = await self._ask(
                uuid, "meters", lambda: self._meters.read(at, uuid, handle, parts, loads)
            )
        except (Lost, NotSupported):
            return []
        self._errors.counted(uuid, rows[0].ecc_corrected, rows[0].ecc_uncorrected)
        return rows

    def _parts(self, card: str) -> tuple[Part, ...]:
        shares = [Part(uid, one.mode) for uid, one in self._shares.on(card).items()]
        numbers = {uid: number for number, uid in self._carver.numbers(card).items()}
        computes = self._carver.computes(card)
        instances = [
            Part(row.uid, Mode.MIG, numbers.get(row.uid), row.device, computes.get(row.uid, 0))
            for row in self._last.get(card, ())
            if row.uid is not None and row.device
        ]
        return (*shares, *instances)

    def _card(self, uuid: str) -> Card:
        if uuid not in self._found.handles:
            raise Lost(f"no card {uuid} in this node, or it does not tell who it is")
        return self._found.cards[uuid]

    async def _ask(
        self, card: str, question: str, call: Callable[[], T], limit_s: float | None = None
    ) -> T:
        """Ask on the card's own thread; the library's own failures become the driver's words.

        Raises:
            NotSupported, Busy, Lost, Refused
        """
        try:
            return await self._patience.ask(card, question, call, limit_s)
        except pynvml.NVMLError as failure:
            raise mig.refusal(failure) from failure
