"""NVIDIA cards as the management library shows them: handed out whole, or cut where allowed."""

import asyncio
import contextlib
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pynvml
from msgspec.structs import replace

from nodeagent import clock, disk
from nodeagent.drivers.base import Busy, Load, Lost, NotSupported, Refused
from nodeagent.drivers.nvml import mig, read
from nodeagent.drivers.nvml.carver import Carver
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Card, Geometry, Host
from nodeagent.protocol.report import CardHealth, FoundSlice
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import Mode, SliceFound

T = TypeVar("T")

CALL_LIMIT_S = 10.0
MIB = 1024 * 1024


class NvmlDriver:
    """This machine's NVIDIA cards. Library calls run beside the loop, each within a limit.

    Without `carve` nothing on a card is ever changed: it is only given a name.
    """

    name = "nvml"

    def __init__(self, state_dir: Path, carve: bool = False) -> None:
        self._carve = carve
        self._carver = Carver(state_dir / "mig.json")
        self._cut: dict[str, Geometry] = {}
        self._unread: set[str] = set()
        self._last: dict[str, tuple[FoundSlice, ...]] = {}
        self._file = state_dir / "slices.json"
        self._work_disk = state_dir
        self._cards: dict[str, Card] = {}
        self._handles: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._asked: dict[str, tuple[float, asyncio.Future[Any]]] = {}

    async def open(self) -> None:
        """Load the library and look; without it the node has no cards."""
        self._names = {str(k): str(v) for k, v in (disk.read_json(self._file) or {}).items()}
        try:
            found = await self._call(read.cards, "cards")
        except (Lost, NotSupported):
            found = ()
        self._cards = {card.uuid: card for card, _ in found}
        self._handles = {card.uuid: handle for card, handle in found}
        if self._carve:
            await self._open_carver()

    async def _open_carver(self) -> None:
        """Offer MIG on the cards that tell how they are cut; nothing is done to doubtful ones."""
        for uuid, handle in self._handles.items():
            try:
                cut = await self._call(
                    lambda h=handle: mig.geometry(h),  # type: ignore[misc]
                    f"geometry {uuid}",
                )
            except (Lost, NotSupported):
                self._unread.add(uuid)
                continue
            if cut is not None:
                self._cut[uuid] = cut
        for uuid, cut in self._cut.items():
            card = self._cards[uuid]
            self._cards[uuid] = replace(
                card, modes=(Mode.WHOLE, Mode.MIG), geometries=(*card.geometries, cut)
            )
        cards = {uuid: (self._handles[uuid], cut) for uuid, cut in self._cut.items()}
        await self._call(lambda: self._carver.open(cards), "carver")

    def boot_id(self) -> str:
        """The machine's own."""
        return clock.boot_id()

    async def host(self) -> Host:
        """Processors, memory, disk of this machine; isolation not tried is not claimed."""
        as_root = os.geteuid() == 0
        notes = () if as_root else ("jobs share the account of the agent: it does not run as root",)
        return Host(
            cpu_milli=(os.cpu_count() or 1) * 1000,
            memory_mib=psutil.virtual_memory().total // MIB,
            disk_mib=psutil.disk_usage(str(self._work_disk)).total // MIB,
            arch=platform.machine(),
            kernel=platform.release(),
            identity=as_root,
            fence=False,
            notes=notes,
        )

    async def inventory(self) -> tuple[Card, ...]:
        """The cards that answered when the agent started."""
        return tuple(self._cards.values())

    async def modes(self) -> dict[str, Mode]:
        """Whole, but for cards that are cut: those are asked, and absent while they are silent.

        So is a card in MIG mode that this agent may not carve: no process can use it whole.
        """
        usable = {uuid for uuid, card in self._cards.items() if card.modes}
        modes = dict.fromkeys(usable - self._cut.keys() - self._unread, Mode.WHOLE)
        for uuid in self._cut:
            with contextlib.suppress(Lost, NotSupported):
                modes[uuid] = await self._call(
                    lambda u=uuid: self._carver.mode(u),  # type: ignore[misc]
                    f"mode {uuid}",
                )
        return modes

    async def slices(self) -> tuple[FoundSlice, ...]:
        """Whole cards that were given a name, and the instances of those that are cut."""
        rows = [
            self._found(uid, self._cards[card])
            for uid, card in self._names.items()
            if card in self._cards
        ]
        for uuid in self._cut:
            with contextlib.suppress(Lost, NotSupported):
                self._last[uuid] = await self._call(
                    lambda u=uuid: self._carver.found(u),  # type: ignore[misc]
                    f"instances {uuid}",
                )
            rows += self._last.get(uuid, ())
        return tuple(rows)

    async def set_mode(self, card: str, mode: Mode) -> None:
        """Into or out of MIG where the card allows it; it is never reset to get there."""
        if card not in self._cut:
            if mode != Mode.WHOLE:
                raise NotSupported("this card is handed out whole")
            return
        if mode not in (Mode.WHOLE, Mode.MIG):
            raise NotSupported(f"this card has no mode {mode}")
        if card in self._names.values():
            raise Busy("the card is handed out whole")
        await self._call(lambda: self._carver.switch(card, mode), f"switch {card} {mode}")

    async def create_slice(self, wanted: WantedSlice) -> FoundSlice:
        """Give the whole card a name, or cut an instance at exactly the wanted place."""
        if wanted.card not in self._cards:
            raise Lost(f"no card {wanted.card} in this node")
        if wanted.mode == Mode.MIG and wanted.card in self._cut:
            return await self._call(lambda: self._carver.create(wanted), f"create {wanted.uid}")
        if wanted.mode != Mode.WHOLE:
            raise NotSupported("this card is handed out whole")
        if (await self.modes()).get(wanted.card) != Mode.WHOLE:
            raise Refused("the card is not in the mode in which it is handed out whole")
        holder = next((uid for uid, card in self._names.items() if card == wanted.card), None)
        if holder not in (None, wanted.uid):
            raise Refused(f"the card is slice {holder} already")
        self._names[wanted.uid] = wanted.card
        disk.write_json(self._file, dict(self._names))
        return self._found(wanted.uid, self._cards[wanted.card])

    async def delete_slice(self, uid: str) -> None:
        """Take the name away, or the instance off its card."""
        if self._names.pop(uid, None) is not None:
            disk.write_json(self._file, dict(self._names))
        elif self._carver.knows(uid):
            await self._call(lambda: self._carver.delete(uid), f"delete {uid}")

    async def clean_slice(self, uid: str) -> None:
        """Nothing is kept on a card once its processes are gone; the runner has seen to that."""

    async def health(self) -> tuple[CardHealth, ...]:
        """Each card is asked; work of strangers on it is named, never touched."""
        asked = (self._health(uuid, handle) for uuid, handle in self._handles.items())
        return tuple(await asyncio.gather(*asked))

    async def _health(self, uuid: str, handle: Any) -> CardHealth:
        try:
            return await self._call(lambda: read.health(uuid, handle), f"health {uuid}")
        except (Lost, NotSupported) as failure:
            return CardHealth(uuid=uuid, health=read.SILENT, reason=str(failure))

    async def sample(self, at: float, loads: tuple[Load, ...]) -> tuple[Reading, ...]:
        """One reading per card; a meter that the card lacks is None."""
        by_card = {self._names[load.slice]: load for load in loads if load.slice in self._names}
        rows: list[Reading] = []
        for uuid, handle in self._handles.items():
            with contextlib.suppress(Lost, NotSupported):
                meter = await self._call(
                    lambda h=handle, u=uuid: read.meters(at, u, h),  # type: ignore[misc]
                    f"meters {uuid}",
                )
                rows += read.with_slice(meter, by_card.get(uuid), self._names)
        return tuple(rows)

    def _found(self, uid: str, card: Card) -> FoundSlice:
        return FoundSlice(
            uid=uid,
            card=card.uuid,
            mode=Mode.WHOLE,
            profile="whole",
            state=SliceFound.READY,
            memory_mib=card.memory_mib,
            start=0,
            size=1,
            device=card.uuid,
        )

    async def _call(self, ask: Callable[[], T], name: str) -> T:
        """Ask the library; one that hangs costs only its own answer, and is not asked again.

        A question that is still open is waited for, so a card that hangs takes one thread for
        each kind of question and no more.
        """
        at, answer = self._asked.get(name, (0.0, None))
        if answer is None:
            at = clock.boottime()
            answer = asyncio.get_running_loop().run_in_executor(None, ask)
            answer.add_done_callback(lambda done: self._answered(name, done))
            self._asked[name] = at, answer
        left = at + CALL_LIMIT_S - clock.boottime()
        await asyncio.wait([answer], timeout=max(left, 0.0))
        if not answer.done():
            raise Lost(f"no answer within {CALL_LIMIT_S:g} s")
        try:
            found: T = answer.result()
            return found
        except pynvml.NVMLError as failure:
            raise read.refusal(failure) from failure

    def _answered(self, name: str, done: asyncio.Future[Any]) -> None:
        """The question may be asked anew; an answer that nobody waited for is dropped."""
        self._asked.pop(name, None)
        if not done.cancelled():
            done.exception()
