"""The first look at a machine's cards: who is there, how each can be cut and shared."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pynvml
from msgspec.structs import replace

from nodeagent import disk
from nodeagent.drivers.base import NotSupported
from nodeagent.drivers.nvml import mig, read
from nodeagent.drivers.nvml.topology import linked
from nodeagent.drivers.sharing.base import Sharing
from nodeagent.protocol.inventory import Ability, Card, Geometry
from nodeagent.protocol.vocabulary import Mode

FILE = "inventory.json"

WHOLE = Ability(mode=Mode.WHOLE, memory="hardware", compute="hardware")
MIG = Ability(
    mode=Mode.MIG,
    memory="hardware",
    compute="hardware",
    note="no NVLink between instances",
)


@dataclass(frozen=True)
class Found:
    """Cards by uuid. `cut` are those that MIG can be used on; of `unread` the mode is not known.

    A card without a handle was there before and does not tell now who it is.
    """

    cards: dict[str, Card] = field(default_factory=dict)
    handles: dict[str, Any] = field(default_factory=dict)
    cut: dict[str, Geometry] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()


def look(state_dir: Path, carve: bool, sharings: tuple[Sharing, ...]) -> Found:
    """Everything that can be told at once. One bad card does not hide the others.

    Raises:
        NVMLError: there is no library, or no driver under it.
    """
    rows, hidden = read.cards()
    rows = linked(rows)
    cards = {card.uuid: card for card, _ in rows}
    handles = {card.uuid: handle for card, handle in rows}
    cut: dict[str, Geometry] = {}
    unread: set[str] = set()
    if carve:
        for uuid, handle in handles.items():
            try:
                told = mig.geometry(handle)
            except (pynvml.NVMLError, NotSupported):
                unread.add(uuid)
                continue
            if told is not None:
                cut[uuid] = told
    cards = {
        uuid: _offered(card, cut.get(uuid), () if uuid in unread else sharings)
        for uuid, card in cards.items()
    }
    return Found(_with_hidden(state_dir / FILE, cards, hidden), handles, cut, frozenset(unread))


def _offered(card: Card, cut: Geometry | None, sharings: tuple[Sharing, ...]) -> Card:
    """The card with every mode that it can be put into here, and what each of them keeps."""
    abilities = [WHOLE]
    geometries = list(card.geometries)
    modes = list(card.modes)
    if cut is not None:
        modes = [Mode.WHOLE, Mode.MIG]
        geometries.append(cut)
        abilities.append(MIG)
    for sharing in sharings:
        offer = sharing.offer(card)
        if offer is not None:
            modes.append(sharing.mode)
            geometries.append(offer[0])
            abilities.append(offer[1])
    return replace(
        card, modes=tuple(modes), geometries=tuple(geometries), abilities=tuple(abilities)
    )


def _with_hidden(file: Path, cards: dict[str, Card], hidden: int) -> dict[str, Card]:
    """Cards that were here before, as many as the library counts and cannot name now."""
    said = disk.read_json(file) or {}
    missing: dict[str, Card] = {}
    for uuid, row in said.items():
        if uuid not in cards and len(missing) < hidden:
            missing[uuid] = msgspec.convert(row, Card)
    found = cards | missing
    disk.write_json(file, {uuid: msgspec.to_builtins(card) for uuid, card in found.items()})
    return found
