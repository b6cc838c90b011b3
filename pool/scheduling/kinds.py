"""Kinds of card: everything that never changes between rounds, judged once for all cards alike."""

from dataclasses import dataclass

from nodeagent.protocol.inventory import Geometry
from nodeagent.protocol.vocabulary import MODE_ISOLATION, Isolation, Mode, Vendor
from pool.carving.sizes import CardSize
from pool.scheduling.model import CardState


@dataclass(frozen=True, slots=True)
class CardKind:
    """What two cards share when the planner cannot tell them apart while both are empty."""

    partition: int
    label: str
    vendor: Vendor
    architecture: str
    compute_capability: str
    driver: str
    size: CardSize
    modes: frozenset[Mode]
    geometries: tuple[Geometry, ...]
    encoders: int
    decoders: int
    graphics: bool
    strength: int
    mixed: bool

    def geometry(self, mode: Mode) -> Geometry | None:
        """How this kind is cut in that mode, None when the mode has no profiles."""
        for geometry in self.geometries:
            if geometry.mode is mode:
                return geometry
        return None

    def isolation(self, mode: Mode) -> Isolation:
        """What keeps holders apart in that mode, the card's own word first."""
        geometry = self.geometry(mode)
        return MODE_ISOLATION[mode] if geometry is None else geometry.isolation


def kind_of(card: CardState) -> CardKind:
    """The kind of one card."""
    return CardKind(
        partition=card.partition,
        label=card.label,
        vendor=card.vendor,
        architecture=card.architecture,
        compute_capability=card.compute_capability,
        driver=card.driver,
        size=CardSize(nominal_gb=card.nominal_gb, memory_mib=card.memory_mib),
        modes=card.modes,
        geometries=card.geometries,
        encoders=card.nvenc,
        decoders=card.nvdec,
        graphics=card.graphics,
        strength=card.strength,
        mixed=card.mixed,
    )


def version(text: str) -> tuple[int, ...]:
    """A dotted version as numbers, for comparing; what is no number counts as 0."""
    return tuple(int(part) if part.isdigit() else 0 for part in text.split(".") if part)
