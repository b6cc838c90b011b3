"""A node without a card: real placement law, delays, scripted faults, state on disk."""

import asyncio
import contextlib
import uuid
from pathlib import Path

from msgspec.structs import replace

from nodeagent import clock, disk
from nodeagent.drivers.base import Busy, DriverError, Load, Lost, Refused
from nodeagent.drivers.errors import CardErrors
from nodeagent.drivers.simulated import layout, meters
from nodeagent.drivers.simulated.faults import Faults
from nodeagent.drivers.simulated.fleet import SimulatedNode
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Card, Host
from nodeagent.protocol.report import CardHealth, FoundSlice
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import Mode, SliceFound, Vendor

GONE = frozenset({"lost", "reset_needed"})
"""Health words under which a card answers no command."""


LOOK_S = 2.0
"""A card that has not answered by then is passed over, as a real one is."""

CUT = frozenset({Mode.MIG, Mode.VNPU, Mode.AMD_PARTITION, Mode.VGPU})
"""Modes in which making or removing a slice works on the card itself."""


class SimulatedDriver:
    """One node of the fleet file. `state_dir` keeps its slices over a restart of the agent."""

    name = "simulated"

    def __init__(self, node: SimulatedNode, state_dir: Path, faults: Path | None = None) -> None:
        self.node = node
        self.cards = {card.uuid: card for card in node.cards}
        self.faults = Faults(faults or state_dir / "faults.yaml")
        self._file = state_dir / "cards.json"
        self._boot = clock.boot_id()
        self._modes: dict[str, Mode] = {}
        self._slices: dict[str, FoundSlice] = {}
        self._compute: dict[str, int] = {}
        self._errors = CardErrors(state_dir / "errors.json")
        self._told: dict[str, list[int]] = {}

    async def open(self) -> None:
        """Read the state of the last run; slices of another boot are gone."""
        state = disk.read_json(self._file) or {}
        self._modes = {card.uuid: card.modes[0] for card in self.node.cards}
        self._modes |= {k: Mode(v) for k, v in state.get("modes", {}).items() if k in self.cards}
        self._errors.open(self.boot_id())
        self._told = {uuid_: list(numbers) for uuid_, numbers in state.get("xids", {}).items()}
        if state.get("boot") != self.boot_id():
            self._restart()
            return
        for entry in state.get("slices", []):
            compute = entry.pop("compute_milli", 0)
            entry |= {"mode": Mode(entry["mode"]), "state": SliceFound(entry["state"])}
            found = FoundSlice(**entry)
            if found.uid is not None and found.card in self.cards:
                self._slices[found.uid] = found
                self._compute[found.uid] = compute

    def boot_id(self) -> str:
        """The machine's boot, and how often the script has rebooted the simulated node."""
        times = self.faults.now().boot
        return f"{self._boot}+{times}" if times else self._boot

    async def host(self) -> Host:
        """What the fleet file says, marked as simulated."""
        return Host(
            cpu_milli=self.node.cpus * 1000,
            memory_mib=self.node.memory_gib * 1024,
            disk_mib=self.node.disk_gib * 1024,
            arch=self.node.arch,
            identity=self.node.identity,
            fence=self.node.fence,
            simulated=True,
            notes=("simulated isolation",),
        )

    async def inventory(self) -> tuple[Card, ...]:
        """The cards of the fleet file; a script may number them anew, as a bus does."""
        by = self.faults.now().shuffle % max(len(self.node.cards), 1)
        turned = (*self.node.cards[by:], *self.node.cards[:by])
        return tuple(replace(card, index=place) for place, card in enumerate(turned))

    def start_delay_s(self) -> float:
        """How long a start takes here beyond the process: as a large image or a slow mount does."""
        return self.faults.now().start_delay_s

    async def modes(self) -> dict[str, Mode]:
        """Modes of the cards that answer; a script that reboots the node is noticed here."""
        state = disk.read_json(self._file) or {}
        if state and state.get("boot") != self.boot_id():
            self._restart()
        return {u: mode for u, mode in self._modes.items() if self._word(u) not in GONE}

    async def slices(self) -> tuple[FoundSlice, ...]:
        """Slices with the names they were given."""
        return tuple(self._slices.values())

    async def set_mode(self, card: str, mode: Mode) -> None:
        """Only an empty card changes its mode."""
        one = self._card(card)
        layout.geometry_of(one, mode)
        if self._modes[card] == mode:
            return
        await self.faults.strike("mode", card, one.index)
        if self._on(card):
            raise Busy("the card holds slices")
        await asyncio.sleep(self.faults.now().mode_delay_s)
        self._modes[card] = mode
        self._save()

    async def create_slice(self, wanted: WantedSlice) -> FoundSlice:
        """Cut at exactly the wanted place, as the card's own table allows."""
        one = self._card(wanted.card)
        present = self._slices.get(wanted.uid)
        if present is not None:
            return present
        await self.faults.strike("create", wanted.card, one.index, wanted.profile)
        await self._cut(wanted.mode, self.faults.now().create_delay_s)
        if self._modes[wanted.card] != wanted.mode:
            raise Refused(f"the card is in mode {self._modes[wanted.card]}, not {wanted.mode}")
        layout.check(one, wanted, self._on(wanted.card), self._compute)
        found = FoundSlice(
            uid=wanted.uid,
            card=wanted.card,
            mode=wanted.mode,
            profile=wanted.profile,
            state=SliceFound.READY,
            memory_mib=wanted.memory_mib,
            start=wanted.start,
            size=wanted.size,
            device=_device(one, wanted),
        )
        self._slices[wanted.uid] = found
        self._compute[wanted.uid] = wanted.compute_milli
        self._save()
        return found

    async def delete_slice(self, uid: str) -> None:
        """Take it away; gone is gone."""
        found = self._slices.get(uid)
        if found is None:
            return
        one = self._card(found.card)
        await self.faults.strike("delete", found.card, one.index, found.profile)
        await self._cut(found.mode, self.faults.now().delete_delay_s)
        self._slices.pop(uid, None)
        self._compute.pop(uid, None)
        self._save()

    async def clean_slice(self, uid: str) -> None:
        """Nothing is kept in a simulated slice, so only the script can hinder."""
        found = self._slices.get(uid)
        if found is None:
            return
        one = self._card(found.card)
        await self.faults.strike("clean", found.card, one.index, found.profile)
        kept = int(self.faults.now().of_card(found.card, one.index).get("kept_mib", 0))
        if kept:
            raise Busy(f"{kept} of {found.memory_mib} MiB are still taken")

    def environment(self, uid: str) -> dict[str, str]:
        """Limits of a shared card, as MPS would be told them; there is no server behind them."""
        found = self._slices.get(uid)
        if found is None or found.mode != Mode.MPS:
            return {}
        share = max(self._compute.get(uid, 0) // 10, 1)
        return {
            "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": f"0={found.memory_mib}M",
            "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": str(share),
        }

    async def device_nodes(self, slices: tuple[FoundSlice, ...]) -> tuple[str, ...]:
        """None: there are no devices."""
        return ()

    async def free_mib(self, one: FoundSlice) -> int | None:
        """What the script says, else everything: nothing is kept from job to job."""
        card = self._card(one.card)
        said = self.faults.now().of_card(one.card, card.index).get("free_mib")
        return card.memory_mib if said is None else int(said)

    async def health(self) -> tuple[CardHealth, ...]:
        """What the script says of each card; healthy when it says nothing."""
        self._hear()
        if not self.faults.now().hinders("health"):
            return self._errors.told([self._said(card) for card in self.node.cards])
        rows = await asyncio.gather(*(self._health(card) for card in self.node.cards))
        return self._errors.told(rows)

    async def sample(self, at: float, loads: tuple[Load, ...]) -> tuple[Reading, ...]:
        """Meters drawn from what the processes really do."""
        if not self.faults.now().hinders("sample"):
            quick = [self._rows(at, card, loads) for card in self.node.cards]
            return tuple(row for of_card in quick for row in of_card)
        rows = await asyncio.gather(*(self._sample(at, card, loads) for card in self.node.cards))
        return tuple(row for of_card in rows for row in of_card)

    async def _sample(self, at: float, card: Card, loads: tuple[Load, ...]) -> list[Reading]:
        try:
            async with asyncio.timeout(LOOK_S):
                rubbish = await self.faults.strike("sample", card.uuid, card.index)
        except (TimeoutError, DriverError):
            return []
        rows = self._rows(at, card, loads)
        return [meters.rubbish(row) for row in rows] if rubbish else rows

    def _rows(self, at: float, card: Card, loads: tuple[Load, ...]) -> list[Reading]:
        script = self.faults.now()
        said = script.of_card(card.uuid, card.index)
        if said.get("health") in GONE:
            return []
        rows = meters.read(at, card, self._on(card.uuid), self._compute, loads, said)
        if script.slices:
            rows = [meters.scripted(row, script.of_slice(row.slice or "")) for row in rows]
        counts = next(row for row in rows if row.slice is None)
        self._errors.counted(card.uuid, counts.ecc_corrected, counts.ecc_uncorrected)
        return rows

    def _hear(self) -> None:
        """XIDs that the script has added to a card's list happen now, each once."""
        script = self.faults.now()
        heard = False
        for card in self.node.cards:
            said = script.of_card(card.uuid, card.index).get("xids", ())
            numbers = [int(number) for number in said]
            for number in numbers[len(self._told.get(card.uuid, ())) :]:
                self._errors.saw(card.uuid, number)
            heard |= numbers != self._told.get(card.uuid, [])
            self._told[card.uuid] = numbers
        if heard:
            with contextlib.suppress(OSError):  # a full disk: a restart may tell them once more
                self._save()

    async def _cut(self, mode: Mode, delay_s: float) -> None:
        """Cutting takes time; whole cards and soft shares are only written down."""
        if mode in CUT:
            await asyncio.sleep(delay_s)

    async def _health(self, card: Card) -> CardHealth:
        try:
            async with asyncio.timeout(LOOK_S):
                await self.faults.strike("health", card.uuid, card.index)
        except TimeoutError:
            why = f"no answer within {LOOK_S:g} s"
            return CardHealth(uuid=card.uuid, health="silent", reason=why)
        except DriverError as failure:
            word = "lost" if isinstance(failure, Lost) else "partial"
            return CardHealth(uuid=card.uuid, health=word, reason=str(failure))
        return self._said(card)

    def _said(self, card: Card) -> CardHealth:
        said = self.faults.now().of_card(card.uuid, card.index)
        return CardHealth(
            uuid=card.uuid,
            health=str(said.get("health", "ok")),
            reason=str(said.get("reason", "")),
            foreign=tuple(str(name) for name in said.get("foreign", ())),
        )

    def _word(self, card: str) -> str:
        one = self.cards[card]
        return str(self.faults.now().of_card(card, one.index).get("health", "ok"))

    def _card(self, uuid_: str) -> Card:
        if uuid_ not in self.cards:
            raise Lost(f"no card {uuid_} in this node")
        if self._word(uuid_) in GONE:
            raise Lost(f"card {uuid_} does not answer")
        return self.cards[uuid_]

    def _on(self, card: str) -> list[FoundSlice]:
        return [found for found in self._slices.values() if found.card == card]

    def _restart(self) -> None:
        """A boot: no slice survives it; MIG mode survives only where entering it needs a reset."""
        self._slices.clear()
        self._compute.clear()
        self._errors.rebooted(self.boot_id())
        for uuid_, mode in self._modes.items():
            card = self.cards[uuid_]
            if not layout.geometry_of(card, mode).reset_to_enter:
                self._modes[uuid_] = card.modes[0]
        self._save()

    def _save(self) -> None:
        slices = [
            {f: getattr(s, f) for f in s.__struct_fields__} | {"compute_milli": self._compute[uid]}
            for uid, s in self._slices.items()
        ]
        state = {
            "boot": self.boot_id(),
            "modes": self._modes,
            "slices": slices,
            "xids": self._told,
        }
        disk.write_json(self._file, state)


def _device(card: Card, wanted: WantedSlice) -> str:
    """What a process is told to see: a MIG slice is named anew each time it is cut."""
    if card.vendor == Vendor.NVIDIA and wanted.mode == Mode.MIG:
        return f"MIG-{uuid.uuid4()}"
    if wanted.mode in (Mode.VNPU, Mode.AMD_PARTITION):
        return f"{card.uuid}/{wanted.uid}"
    return card.uuid
