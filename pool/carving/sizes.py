"""Sizes: what a need in nominal GB, MiB, thousandths or a profile name means on one card."""

from dataclasses import dataclass
from functools import lru_cache

from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import PLACED_MODES

FULL = 1000
MICRO = 1_000_000
GRAPHICS = "+gfx"
"""How the names of profiles end that can draw: they are given only when named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One part of a need. GB are nominal, MiB usable and absolute, shares in thousandths.

    `encoder_units` and `decoder_units` are video engines that it has to itself.
    """

    memory_gb: int | None = None
    memory_mib: int | None = None
    compute_milli: int | None = None
    share_milli: int | None = None
    proportional: bool = False
    profile: str = ""
    min_size_gb: int = 0
    encoder_units: int = 0
    decoder_units: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSize:
    """How big one card is, by name and in fact."""

    nominal_gb: int
    memory_mib: int


@dataclass(frozen=True, slots=True)
class Share:
    """A soft share of one card: usable MiB and thousandths of its compute."""

    memory_mib: int
    compute_milli: int


def nominal_mib(card: CardSize, gigabytes: int) -> int:
    """n GB on an N GB card is floor(usable MiB x n / N)."""
    return card.memory_mib * gigabytes // card.nominal_gb


def share_of(card: CardSize, ask: Ask) -> Share | None:
    """The soft share that meets the ask, or None when the card is too small for it.

    Memory alone brings compute in proportion, rounded down, and the other way round, so that equal
    shares which fit by memory always fit by compute too.
    """
    memory = _memory(card, ask)
    compute = ask.compute_milli if ask.compute_milli is not None else ask.share_milli
    if memory is None and compute is None:
        return None
    if memory is None:
        memory = card.memory_mib * (compute or 0) // FULL
    least = nominal_mib(card, ask.min_size_gb) if ask.min_size_gb else 0
    memory = max(memory, least)
    if compute is None or ask.proportional:
        compute = max(compute or 0, memory * FULL // card.memory_mib)
    if memory > card.memory_mib or compute > FULL:
        return None
    return Share(memory, compute)


def _memory(card: CardSize, ask: Ask) -> int | None:
    if ask.memory_mib is not None:
        return ask.memory_mib
    if ask.memory_gb is not None:
        return nominal_mib(card, ask.memory_gb)
    if ask.share_milli is not None:
        return card.memory_mib * ask.share_milli // FULL
    return None


def profile_compute_milli(geometry: Geometry, profile: Profile) -> int:
    """A profile's compute g/G in thousandths of the card, rounded down."""
    return profile.compute * FULL // geometry.compute_units


def profile_micro(geometry: Geometry, profile: Profile) -> int:
    """Card equivalents of a profile.

    The mean of g/G and size/units, in millionths, rounded down.
    """
    compute = profile.compute * geometry.units + profile.size * geometry.compute_units
    return compute * MICRO // (2 * geometry.compute_units * geometry.units)


def share_micro(card: CardSize, share: Share) -> int:
    """Card equivalents of a soft share, in millionths, rounded down.

    A card's shares pass 1 never.
    """
    compute = share.compute_milli * card.memory_mib + share.memory_mib * FULL
    return compute * MICRO // (2 * FULL * card.memory_mib)


def memory_met(profile: Profile, card: CardSize, ask: Ask) -> bool:
    """Nominal is compared with nominal, absolute MiB with usable MiB."""
    if profile.nominal_gb < ask.min_size_gb:
        return False
    if ask.memory_mib is not None:
        return profile.memory_mib >= ask.memory_mib
    if ask.memory_gb is not None:
        return profile.nominal_gb >= ask.memory_gb
    if ask.share_milli is not None:
        return profile.nominal_gb * FULL >= ask.share_milli * card.nominal_gb
    return True


def compute_met(geometry: Geometry, profile: Profile, ask: Ask, tolerance_milli: int) -> bool:
    """Compute is met when at most the tolerance short (requirement P10)."""
    wanted = ask.compute_milli if ask.compute_milli is not None else ask.share_milli
    if wanted is None:
        return True
    return wanted - profile_compute_milli(geometry, profile) <= tolerance_milli


@lru_cache(maxsize=65536)
def profiles_for(
    geometry: Geometry, card: CardSize, ask: Ask, tolerance_milli: int
) -> tuple[int, ...]:
    """Profiles that meet the ask, tightest first; a profile asked for by name is the only one.

    Profiles with extra engines (+me, +gfx) are given only when named or for their video engines:
    they are scarce. Other modes than MIG share the card's engines, so that each profile will do.
    """
    cut = geometry.mode in PLACED_MODES
    able = [i for i, p in enumerate(geometry.profiles) if not cut or engines_met(p, ask)]
    if ask.profile:
        return tuple(i for i in able if geometry.profiles[i].name == ask.profile)
    met = [
        i
        for i in able
        if memory_met(geometry.profiles[i], card, ask)
        and compute_met(geometry, geometry.profiles[i], ask, tolerance_milli)
    ]
    plain = [i for i in met if _plain(geometry.profiles[i])]
    if cut and (ask.encoder_units or ask.decoder_units):
        plain = plain or [i for i in met if not geometry.profiles[i].name.endswith(GRAPHICS)]
    return tuple(sorted(plain, key=lambda i: _tightness(geometry.profiles[i], i)))


def engines_met(profile: Profile, ask: Ask) -> bool:
    """Whether a slice has so many video engines to itself; unknown ones are not promised."""
    return (profile.encoders or 0) >= ask.encoder_units and (
        (profile.decoders or 0) >= ask.decoder_units
    )


def _plain(profile: Profile) -> bool:
    return "+" not in profile.name and not profile.name.endswith("-me")


def _tightness(profile: Profile, index: int) -> tuple[int, int, int, int]:
    return (profile.size, profile.compute, profile.memory_mib, index)
