"""One node's Ascend chips: listed, measured, and cut by the vendor's own templates."""

import contextlib
import re

from nodeagent.drivers.ascend.table import Chip, Table, halves, read
from nodeagent.drivers.base import Busy, NotSupported, Refused
from nodeagent.drivers.nvml.strangers import strangers
from nodeagent.drivers.programs import Programs
from nodeagent.drivers.published import enriched, nominal_gb
from nodeagent.drivers.published import read as facts
from nodeagent.drivers.shares import Share
from nodeagent.drivers.words import number
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Ability, Card, Geometry, Profile
from nodeagent.protocol.report import CardHealth
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import MODE_ISOLATION, Isolation, Mode, Vendor

SMI = "npu-smi"
FIELD = re.compile(r"^\s*(?P<name>[A-Za-z][\w ()/-]*?)\s*:\s*(?P<value>.+?)\s*$", re.MULTILINE)
FIRST_VIRTUAL = 100
A_CHIP = 16
"""Virtual devices of chip n are numbered from 16 n + 100."""

HEALTH = {"ok": "ok", "warning": "partial", "alarm": "partial", "critical": "lost"}
FILES = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")

WHOLE = Ability(mode=Mode.WHOLE, memory="hardware", compute="hardware")
CUT = Ability(
    mode=Mode.VNPU,
    memory="driver",
    compute="driver",
    note="isolation of this cut is not known; never tried on a real chip by this project",
)


class Ascend:
    """Chips by (npu, chip) as the program numbers them."""

    name = "ascend"
    mode = Mode.VNPU

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._uuids: dict[tuple[str, str], str] = {}

    def cards(self) -> tuple[Card, ...]:
        """The chips that tell how much memory they have."""
        table = self._table()
        found = [self._card(place, chip, table) for place, chip in enumerate(table.chips)]
        return tuple(card for card in found if card is not None)

    def readings(self, at: float) -> tuple[Reading, ...]:
        """One row a chip; a dead column is None."""
        rows = []
        for chip in self._table().chips:
            use = number(chip.words.get("AICore"))
            used, _ = _memory(chip)
            rows.append(
                Reading(
                    at=at,
                    card=self._uuid(chip),
                    util_mean=use,
                    sm_mean=use,
                    memory_mib_mean=used,
                    power_w_mean=number(chip.words.get("Power")),
                    temperature_c_max=number(chip.words.get("Temp")),
                )
            )
        return tuple(rows)

    def health(self) -> tuple[CardHealth, ...]:
        """The program's word for each chip, and whose work is on it."""
        table = self._table()
        rows = []
        for chip in table.chips:
            said = chip.words.get("Health", "")
            where = (chip.npu, chip.words.get("Chip", "0"))
            foreign = strangers([pid for npu, one, pid in table.processes if (npu, one) == where])
            word = HEALTH.get(said.casefold(), "partial")
            reason = "" if word == "ok" else f"npu-smi says {said or 'nothing'}"
            if word == "ok" and foreign:
                word = "contested"
                reason = "work that the pool did not start: " + ", ".join(foreign)
            rows.append(
                CardHealth(uuid=self._uuid(chip), health=word, reason=reason, foreign=foreign)
            )
        return tuple(rows)

    def cut(self, card: Card, wanted: WantedSlice, beside: dict[str, Share]) -> str:
        """A virtual device of the template, under a number that is free."""
        chip = self._chip(card)
        taken = {one.device for one in beside.values()}
        first = FIRST_VIRTUAL + A_CHIP * card.index
        free = next(n for n in range(first, first + A_CHIP) if f"vdavinci{n}" not in taken)
        self._programs.run(
            *(SMI, "set", "-t", "create-vnpu", "-i", chip.npu, "-c", chip.words.get("Chip", "0")),
            *("-f", wanted.profile, "-v", str(free)),
        )
        return f"vdavinci{free}"

    def uncut(self, card: Card, share: Share, beside: dict[str, Share]) -> None:
        """Take the virtual device away; one that is not there is gone already."""
        chip = self._chip(card)
        try:
            self._programs.run(
                *(SMI, "set", "-t", "destroy-vnpu", "-i", chip.npu),
                *("-c", chip.words.get("Chip", "0"), "-v", share.device.removeprefix("vdavinci")),
            )
        except Refused as failure:
            if "not exist" not in str(failure):
                raise

    def seen(self, shares: dict[str, Share], cards: dict[str, Card]) -> dict[str, str]:
        """A virtual device keeps its number for life."""
        return {uid: share.device for uid, share in shares.items()}

    def files(self, card: Card, share: Share | None) -> tuple[str, ...]:
        """The manager's files and the chip's own, or the virtual device's."""
        own = f"/dev/davinci{card.index}"
        if share is not None and share.device.startswith("vdavinci"):
            own = f"/dev/{share.device}"
        return (*FILES, own)

    def _table(self) -> Table:
        table = read(self._programs.run(SMI, "info"))
        if not table.chips:
            raise NotSupported("npu-smi lists no chip in a form that is known")
        return table

    def _card(self, place: int, chip: Chip, table: Table) -> Card | None:
        _, total = _memory(chip)
        if not total:
            return None
        size = int(total)
        nominal = nominal_gb(size)
        whole = Profile("whole", "whole", 1, 1, size, nominal, (0,), 1)
        geometries = [Geometry(Mode.WHOLE, 1, 1, (whole,), Isolation.HARDWARE)]
        cut = templates(chip.name, size)
        if cut is not None:
            geometries.append(cut)
        return enriched(
            Card(
                uuid=self._uuid(chip),
                index=place,
                vendor=Vendor.ASCEND,
                model=f"Ascend {chip.name}",
                label=f"Ascend-{chip.name}",
                nominal_gb=nominal,
                memory_mib=size,
                modes=tuple(one.mode for one in geometries),
                geometries=tuple(geometries),
                pci=chip.words.get("Bus-Id"),
                architecture="DaVinci",
                compute_capability=chip.name,
                driver=table.version or None,
                abilities=(WHOLE,) if cut is None else (WHOLE, CUT),
            )
        )

    def _uuid(self, chip: Chip) -> str:
        """The die's own number where it is told, else its place on the bus and on its board."""
        key = (chip.npu, chip.words.get("Chip", "0"))
        if key not in self._uuids:
            die = ""
            with contextlib.suppress(NotSupported, Busy, Refused):
                said = self._programs.run(*(SMI, "info", "-t", "board", "-i", key[0], "-c", key[1]))
                told = {row["name"].strip(): row["value"] for row in FIELD.finditer(said)}
                die = "".join(told.get("VDie ID", told.get("Die ID", "")).split())
            place = f"{chip.words.get('Bus-Id', key[0])}.{key[1]}"
            self._uuids[key] = f"NPU-{die or place}"
        return self._uuids[key]

    def _chip(self, card: Card) -> Chip:
        for chip in self._table().chips:
            if self._uuid(chip) == card.uuid:
                return chip
        raise Busy("the chip is not listed now")


def templates(name: str, memory_mib: int) -> Geometry | None:
    """How a chip of that name is cut; None where nothing is published of it."""
    rows = facts("vnpu.json")["chips"]
    chip = next((row for row in rows if row["chip"].casefold() == name.casefold()), None)
    if chip is None:
        return None
    profiles = tuple(
        Profile(
            one["name"],
            one["name"],
            one["cores"],
            one["cores"],
            one["memory_mib"],
            one["memory_mib"] // 1024,
            (),
            min(chip["cores"] // one["cores"], memory_mib // one["memory_mib"]),
            one["cores"],
        )
        for one in chip["templates"]
    )
    return Geometry(Mode.VNPU, chip["cores"], chip["cores"], profiles, MODE_ISOLATION[Mode.VNPU])


def _memory(chip: Chip) -> tuple[float | None, float | None]:
    """(used, total) in MiB: of the fast memory where the chip has it, else of its only one."""
    for name in ("HBM-Usage", "Memory-Usage"):
        used, total = halves(chip.words.get(name))
        size = number(total)
        if size:
            return number(used), size
    return None, None
