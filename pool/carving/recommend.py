"""Need to mode and profile: what a partition really offers, with the waste of each."""

from dataclasses import dataclass
from enum import StrEnum

from nodeagent.protocol.inventory import Geometry
from nodeagent.protocol.vocabulary import PLACED_MODES, UNISOLATED, Isolation, Mode
from pool.carving.sizes import (
    FULL,
    Ask,
    CardSize,
    Share,
    profile_compute_milli,
    profile_micro,
    profiles_for,
    share_micro,
    share_of,
)

MODE_LOSS_PERCENT: dict[Mode, tuple[int, int]] = {
    Mode.WHOLE: (0, 2),
    Mode.MIG: (3, 8),
    Mode.VGPU: (5, 15),
    Mode.MPS: (0, 5),
    Mode.TIMESLICE: (0, 1),
    Mode.VNPU: (3, 8),
    Mode.AMD_PARTITION: (3, 8),
}
"""Expected loss of speed by mode until a benchmark has measured it (requirement P2)."""

SMALL_SLICE_PARTS = 3
MICRO_WHOLE = 1_000_000


class Why(StrEnum):
    """Why an option is offered, or is not."""

    TIGHTEST = "tightest"
    FITS_WITH_WASTE = "fits_with_waste"
    TRUST_GROUP_ONLY = "trust_group_only"
    NOT_TRUSTED = "not_trusted"
    NOT_OFFERED = "not_offered"
    EXTERNAL_ONLY = "external_only"
    TOO_SMALL = "too_small"


class Warn(StrEnum):
    """What to say beside an option."""

    MANY_SMALL_SLICES = "many_small_slices"
    COMPUTE_NOT_ENFORCED = "compute_not_enforced"
    NEIGHBOUR_FAULT = "neighbour_fault"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One way to share one kind of card that some partition offers now."""

    label: str
    size: CardSize
    mode: Mode
    isolation: Isolation
    geometry: Geometry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An answer, good or not. `waste_percent` is what the slice holds beyond the need."""

    label: str
    mode: Mode
    why: Why
    profile: str = ""
    memory_mib: int = 0
    compute_milli: int = 0
    card_micro: int = 0
    waste_percent: float = 0.0
    loss_percent: tuple[int, int] = (0, 0)
    warnings: tuple[Warn, ...] = ()

    @property
    def usable(self) -> bool:
        return self.why in {Why.TIGHTEST, Why.FITS_WITH_WASTE, Why.TRUST_GROUP_ONLY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks: kind external may get a vGPU; `shares_trust` accepts neighbours of its own group.

    `attention` says that the work is dominated by attention kernels, `parts` how many slices.
    """

    external: bool = False
    shares_trust: bool = False
    attention: bool = False
    parts: int = 1


def recommend(
    ask: Ask, offers: tuple[Offer, ...], asker: Asker, tolerance_milli: int = 20
) -> tuple[Option, ...]:
    """Every offer judged, usable ones first, least waste first; refused ones say why."""
    options = [_judge(ask, offer, asker, tolerance_milli) for offer in offers]
    return tuple(
        sorted(
            options,
            key=lambda o: (
                not o.usable,
                o.waste_percent,
                o.card_micro,
                o.loss_percent,
                o.label,
                o.mode,
            ),
        )
    )


def _judge(ask: Ask, offer: Offer, asker: Asker, tolerance_milli: int) -> Option:
    if offer.mode is Mode.VGPU and not asker.external:
        return _refused(offer, Why.EXTERNAL_ONLY)
    if offer.isolation in UNISOLATED and not asker.shares_trust:
        return _refused(offer, Why.NOT_TRUSTED)
    if offer.mode is Mode.WHOLE:
        return _whole(ask, offer)
    if offer.geometry is not None and (offer.mode in PLACED_MODES or offer.geometry.profiles):
        return _profiled(ask, offer, offer.geometry, asker, tolerance_milli)
    return _soft(ask, offer)


def _refused(offer: Offer, why: Why) -> Option:
    return Option(label=offer.label, mode=offer.mode, why=why)


def _whole(ask: Ask, offer: Offer) -> Option:
    asked = share_of(offer.size, ask)
    if asked is None and (ask.memory_mib or ask.memory_gb or ask.compute_milli):
        return _refused(offer, Why.TOO_SMALL)
    return Option(
        label=offer.label,
        mode=Mode.WHOLE,
        why=Why.FITS_WITH_WASTE,
        profile="whole",
        memory_mib=offer.size.memory_mib,
        compute_milli=FULL,
        card_micro=MICRO_WHOLE,
        waste_percent=_waste(offer.size, asked, MICRO_WHOLE),
        loss_percent=MODE_LOSS_PERCENT[Mode.WHOLE],
    )


def _profiled(
    ask: Ask, offer: Offer, geometry: Geometry, asker: Asker, tolerance_milli: int
) -> Option:
    met = profiles_for(geometry, offer.size, ask, tolerance_milli)
    if not met:
        return _refused(offer, Why.TOO_SMALL)
    profile = geometry.profiles[met[0]]
    micro = profile_micro(geometry, profile)
    waste = _waste(offer.size, share_of(offer.size, ask), micro)
    small = asker.attention and profile.compute == 1 and asker.parts >= SMALL_SLICE_PARTS
    return Option(
        label=offer.label,
        mode=offer.mode,
        why=Why.FITS_WITH_WASTE if waste > 0 else Why.TIGHTEST,
        profile=profile.name,
        memory_mib=profile.memory_mib,
        compute_milli=profile_compute_milli(geometry, profile),
        card_micro=micro,
        waste_percent=waste,
        loss_percent=MODE_LOSS_PERCENT[offer.mode],
        warnings=(Warn.MANY_SMALL_SLICES,) if small else (),
    )


def _soft(ask: Ask, offer: Offer) -> Option:
    share = share_of(offer.size, ask)
    if share is None:
        return _refused(offer, Why.TOO_SMALL)
    warnings = [Warn.NEIGHBOUR_FAULT] if offer.isolation in UNISOLATED else []
    if offer.mode is Mode.TIMESLICE:
        warnings.append(Warn.COMPUTE_NOT_ENFORCED)
    return Option(
        label=offer.label,
        mode=offer.mode,
        why=Why.TRUST_GROUP_ONLY if offer.isolation in UNISOLATED else Why.TIGHTEST,
        memory_mib=share.memory_mib,
        compute_milli=share.compute_milli,
        card_micro=share_micro(offer.size, share),
        loss_percent=MODE_LOSS_PERCENT[offer.mode],
        warnings=tuple(warnings),
    )


def _waste(size: CardSize, asked: Share | None, given_micro: int) -> float:
    """The part of the given card equivalents that the need does not use, in per cent."""
    if asked is None:
        return 0.0
    used = share_micro(size, asked)
    return round(max(0.0, 100.0 * (given_micro - used) / given_micro), 1)
