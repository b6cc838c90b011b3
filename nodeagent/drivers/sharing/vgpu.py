"""NVIDIA vGPU on a hypervisor host: made and removed through sysfs, for machines, not processes.

Older drivers show mediated devices under the card's own folder; newer ones hand out virtual
functions, each with a file that takes the type's number.
"""

import contextlib
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nodeagent.drivers.base import Busy, NotSupported, Refused
from nodeagent.drivers.shares import Share
from nodeagent.drivers.sharing.scheduler import set_policy
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Ability, Card, Geometry, Profile
from nodeagent.protocol.vocabulary import MODE_ISOLATION, Mode

NAMES = uuid.UUID("3a0a4a0e-6d56-4d6b-a0f2-0a6ed9c0a0b1")
"""A mediated device is named after its slice, so making it twice makes one."""

LICENCES = {"A": "vApps", "B": "vPC", "Q": "vWS", "C": "vCS"}
"""The seat that one machine with such a device takes, by the letter of the type's name."""

TYPE = re.compile(
    r"(?P<board>[A-Za-z0-9 ]+?)-(?:(?P<slices>\d+)-)?(?P<gb>\d+)(?P<series>[ABCQ])(?P<tail>\w*)$"
)
CREATABLE = re.compile(r"^\s*(?P<number>\d+)\s*:\s*(?P<name>.+?)\s*$")


@dataclass(frozen=True)
class Kind:
    """One type that can still be made on a card. `left` is how many; sizes in GB."""

    number: str
    name: str
    gb: int
    series: str
    left: int


def parsed(number: str, name: str, left: int) -> Kind | None:
    """The type behind a name such as `NVIDIA A100-10C`; None for a name of another form."""
    said = TYPE.search(name.removeprefix("GRID ").removeprefix("NVIDIA "))
    if said is None:
        return None
    return Kind(number, name.strip(), int(said["gb"]), said["series"], left)


class Vgpu:
    """`root` stands for `/sys`; tests give a folder that looks like it.

    `policy` is how the devices of one card take turns; "" leaves it as the host has it.
    """

    mode = Mode.VGPU

    def __init__(self, root: Path = Path("/sys"), policy: str = "") -> None:
        self._root = root
        self._policy = policy

    def offer(self, card: Card) -> tuple[Geometry, Ability] | None:
        """On a card whose host driver shows types; each type is a profile of its own."""
        kinds = self.kinds(card)
        if not kinds:
            return None
        units = max(card.nominal_gb, 1)
        profiles = tuple(
            Profile(
                kind.name,
                kind.number,
                kind.gb,
                kind.gb,
                card.memory_mib * kind.gb // units,
                kind.gb,
                (),
                max(units // max(kind.gb, 1), 1),
                media=kind.series != "C",
            )
            for kind in kinds
        )
        seats = sorted({LICENCES[kind.series] for kind in kinds})
        note = "for virtual machines only; all devices of one card are of one size"
        ability = Ability(
            mode=Mode.VGPU,
            memory="driver",
            compute="driver",
            note=note,
            licence=",".join(seats),
        )
        return Geometry(Mode.VGPU, units, units, profiles, MODE_ISOLATION[Mode.VGPU]), ability

    def kinds(self, card: Card) -> tuple[Kind, ...]:
        """What can still be made on the card; empty where it is no hypervisor's."""
        found = [*self._mediated(card)] or [*self._functions(card)]
        return tuple(sorted(found, key=lambda kind: (kind.series, kind.gb, kind.number)))

    def enter(self, card: Card) -> None:
        """The host's administrator has made the card ready; only the policy is set here.

        Raises:
            NotSupported: no types are shown, or the policy cannot be had.
            Refused
        """
        if not self.kinds(card) and not self._made(card):
            raise NotSupported("this host shows no vGPU types for the card")
        if self._policy:
            set_policy(card.uuid, self._policy)

    def leave(self, card: Card) -> None:
        """Nothing to undo on an empty card.

        Raises:
            Busy: devices are left on it.
        """
        if self._made(card):
            raise Busy("the card holds vGPU devices")

    def create(self, card: Card, wanted: WantedSlice, beside: dict[str, Share]) -> str:
        """The device that a machine is given: a mediated device's id, or a function's address."""
        kind = next((one for one in self.kinds(card) if one.name == wanted.profile), None)
        name = str(uuid.uuid5(NAMES, wanted.uid))
        if (self._root / "bus/mdev/devices" / name).exists():
            return name
        if kind is None or kind.left < 1:
            raise Refused(f"no {wanted.profile!r} can be made on this card now")
        if self._types(card).is_dir():
            _write(self._types(card) / kind.number / "create", name)
            return name
        taken = {one.device for one in beside.values()}
        for function in self._virtual(card):
            current = function / "nvidia/current_vgpu_type"
            if _read(current) == "0" and f"vf:{function.name}" not in taken:
                _write(current, kind.number)
                return f"vf:{function.name}"
        raise Refused("every virtual function of the card is taken")

    def delete(self, card: Card, uid: str, share: Share, beside: dict[str, Share]) -> None:
        """A mediated device is removed by its name, a virtual function given no type any more.

        Raises:
            Busy: its machine still runs.
        """
        if not share.device.startswith("vf:"):
            device = self._root / "bus/mdev/devices" / str(uuid.uuid5(NAMES, uid))
            if device.exists():
                _write(device / "remove", "1")
            return
        function = self._root / "bus/pci/devices" / Path(share.device.removeprefix("vf:")).name
        current = function / "nvidia/current_vgpu_type"
        if _read(current) not in ("", "0"):
            _write(current, "0")

    def hosts(self, card: Card) -> frozenset[int]:
        """None: the driver itself serves them."""
        return frozenset()

    def environment(self, card: Card, uid: str, share: Share) -> dict[str, str]:
        """A process cannot use it, so it is told nothing."""
        return {}

    def _address(self, card: Card) -> str:
        """The bus address as sysfs spells it: a domain of four digits, all small."""
        return (card.pci or "").lower()[-12:]

    def _types(self, card: Card) -> Path:
        return self._root / "class/mdev_bus" / self._address(card) / "mdev_supported_types"

    def _mediated(self, card: Card) -> Iterator[Kind]:
        folder = self._types(card)
        if not (card.pci and folder.is_dir()):
            return
        for one in sorted(folder.iterdir()):
            left = _read(one / "available_instances")
            kind = parsed(one.name, _read(one / "name"), int(left) if left.isdigit() else 0)
            if kind is not None:
                yield kind

    def _virtual(self, card: Card) -> list[Path]:
        folder = self._root / "bus/pci/devices" / self._address(card)
        if not card.pci:
            return []
        links = [path for path in sorted(folder.glob("virtfn*")) if (path / "nvidia").is_dir()]
        return [path.resolve() for path in links]

    def _functions(self, card: Card) -> Iterator[Kind]:
        lines: dict[str, tuple[str, int]] = {}
        for function in self._virtual(card):
            free = _read(function / "nvidia/current_vgpu_type") == "0"
            for line in _read(function / "nvidia/creatable_vgpu_types").splitlines():
                said = CREATABLE.match(line)
                if said is not None:
                    count = lines.get(said["number"], ("", 0))[1]
                    lines[said["number"]] = (said["name"], count + free)
        for number, (name, left) in lines.items():
            kind = parsed(number, name, left)
            if kind is not None:
                yield kind

    def _made(self, card: Card) -> bool:
        functions = self._virtual(card)
        used = [_read(f / "nvidia/current_vgpu_type") not in ("", "0") for f in functions]
        types = self._types(card)
        devices = types.is_dir() and any(
            any(one.iterdir())
            for one in (kind / "devices" for kind in types.iterdir())
            if one.is_dir()
        )
        return any(used) or devices


def _read(file: Path) -> str:
    with contextlib.suppress(OSError):
        return file.read_text(encoding="utf-8", errors="replace").strip()
    return ""


def _write(file: Path, words: str) -> None:
    try:
        file.write_text(words, encoding="utf-8")
    except OSError as failure:
        raise Busy(f"{file.name}: {failure.strerror or failure}") from failure
