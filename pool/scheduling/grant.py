"""What one part of a need means on one kind of card in one mode, or why it never can be there."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from nodeagent.protocol.inventory import Geometry
from nodeagent.protocol.vocabulary import PLACED_MODES, Isolation, Mode, WorkloadKind
from pool.carving.sizes import (
    FULL,
    MICRO,
    Ask,
    memory_met,
    profile_compute_milli,
    profile_micro,
    profiles_for,
    share_micro,
    share_of,
)
from pool.scheduling.kinds import CardKind, version
from pool.scheduling.model import Ceiling, CeilingScope, Need, Reason, Waiting

ISOLATION_RANK = {
    Isolation.HARDWARE: 3,
    Isolation.SOFTWARE: 2,
    Isolation.PROCESS: 1,
    Isolation.NONE: 0,
    Isolation.UNKNOWN: 0,
}
DEFAULT_MODES = (Mode.MIG, Mode.VNPU, Mode.AMD_PARTITION, Mode.MPS)
"""Tried in this order when a need names no mode; time slicing only when a template names it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What one part gets: usable MiB, thousandths of compute, card equivalents in millionths.

    `profiles` are the geometry's profiles that would do, tightest first; empty for a soft share and
    for a whole card. Sizes are those of the tightest. A soft share takes `encoder_units` and
    `decoder_units` of the card's own video engines.
    """

    mode: Mode
    memory_mib: int
    compute_milli: int
    card_micro: int
    profiles: tuple[int, ...] = ()
    encoder_units: int = 0
    decoder_units: int = 0


def ask_of(need: Need) -> Ask:
    """One part of the need in the words of carving."""
    return Ask(
        memory_gb=need.memory_gb,
        memory_mib=need.memory_mib,
        compute_milli=need.compute_milli,
        share_milli=need.share_milli,
        proportional=need.proportional,
        profile=need.profile,
        min_size_gb=need.min_size_gb,
        encoder_units=need.encoder_units,
        decoder_units=need.decoder_units,
    )


def modes_for(work: Waiting) -> tuple[Mode, ...]:
    """The modes to try, in order of preference."""
    if work.need.whole:
        return (Mode.WHOLE,)
    if work.need.modes:
        return work.need.modes
    return (Mode.VGPU,) if work.kind is WorkloadKind.EXTERNAL else DEFAULT_MODES


@lru_cache(maxsize=65536)
def grant(
    kind: CardKind,
    need: Need,
    mode: Mode,
    external: bool,
    ceilings: tuple[Ceiling, ...],
    tolerance_milli: int,
) -> Grant | Reason:
    """What a part gets on this kind of card, or the first filter that keeps it off for ever.

    `ceilings` are those that bind this workload's purpose.
    """
    for reason, passes in _STATIC:
        if not passes(kind, need):
            return reason
    if mode not in kind.modes or (mode is Mode.VGPU and not external):
        return Reason.MODE
    if ISOLATION_RANK[kind.isolation(mode)] < ISOLATION_RANK[need.isolation or Isolation.NONE]:
        return Reason.ISOLATION
    sized = _sized(kind, need, mode, tolerance_milli)
    if isinstance(sized, Reason):
        return sized
    return _under(sized, ceilings, kind)


def _capable(kind: CardKind, need: Need) -> bool:
    if need.architectures and kind.architecture not in need.architectures:
        return False
    if need.min_driver and version(kind.driver) < version(need.min_driver):
        return False
    wanted = need.min_compute_capability
    if wanted and version(kind.compute_capability) < version(wanted):
        return False
    return (kind.encoders > 0 or not need.encoder) and (kind.graphics or not need.graphics)


_STATIC: tuple[tuple[Reason, Callable[[CardKind, Need], bool]], ...] = (
    (Reason.VENDOR, lambda kind, need: not need.vendors or kind.vendor in need.vendors),
    (Reason.MODEL, lambda kind, need: not need.labels or kind.label in need.labels),
    (Reason.CAPABILITY, _capable),
)


def _sized(kind: CardKind, need: Need, mode: Mode, tolerance_milli: int) -> Grant | Reason:
    short = _engines_short(kind, need)
    if short is not None:
        return short
    if mode is Mode.WHOLE:
        return _whole(kind, need)
    geometry = kind.geometry(mode)
    if geometry is None or not geometry.profiles:
        return _share(kind, need, mode)
    ask = ask_of(need)
    profiles = profiles_for(geometry, kind.size, ask, tolerance_milli)
    if not profiles:
        return _too_small(kind, geometry, ask, tolerance_milli)
    tightest = geometry.profiles[profiles[0]]
    sized = Grant(
        mode=mode,
        memory_mib=tightest.memory_mib,
        compute_milli=profile_compute_milli(geometry, tightest),
        card_micro=profile_micro(geometry, tightest),
        profiles=profiles,
    )
    return sized if mode in PLACED_MODES else _with_engines(sized, need)


def _engines_short(kind: CardKind, need: Need) -> Reason | None:
    """The card as a whole has fewer video engines than one part wants to itself."""
    if need.encoder_units > kind.encoders:
        return Reason.ENCODER
    return Reason.DECODER if need.decoder_units > kind.decoders else None


def _with_engines(sized: Grant, need: Need) -> Grant:
    """A soft share takes of the card's video engines; what hardware cuts brings its own."""
    return replace(sized, encoder_units=need.encoder_units, decoder_units=need.decoder_units)


def _too_small(kind: CardKind, geometry: Geometry, ask: Ask, tolerance_milli: int) -> Reason:
    """Which word of the ask no profile of the card meets."""
    silent = replace(ask, encoder_units=0, decoder_units=0)
    if ask != silent and profiles_for(geometry, kind.size, silent, tolerance_milli):
        deaf = replace(ask, decoder_units=0)
        coded = profiles_for(geometry, kind.size, deaf, tolerance_milli)
        return Reason.DECODER if coded else Reason.ENCODER
    if ask.profile:
        return Reason.LAYOUT
    enough = any(memory_met(profile, kind.size, ask) for profile in geometry.profiles)
    return Reason.COMPUTE if enough else Reason.MEMORY


def _whole(kind: CardKind, need: Need) -> Grant | Reason:
    asked = need.memory_gb or 0, need.memory_mib or 0
    if asked[0] > kind.size.nominal_gb or asked[1] > kind.size.memory_mib:
        return Reason.MEMORY
    if kind.size.nominal_gb < need.min_size_gb:
        return Reason.MEMORY
    return Grant(Mode.WHOLE, kind.size.memory_mib, FULL, MICRO)


def _share(kind: CardKind, need: Need, mode: Mode) -> Grant | Reason:
    if need.profile:
        return Reason.MODE
    share = share_of(kind.size, ask_of(need))
    if share is None:
        return Reason.MEMORY
    micro = share_micro(kind.size, share)
    return _with_engines(Grant(mode, share.memory_mib, share.compute_milli, micro), need)


def _under(sized: Grant, ceilings: tuple[Ceiling, ...], kind: CardKind) -> Grant | Reason:
    """A ceiling never shrinks a grant: what passes it is not given on this kind at all."""
    if not _below(sized.memory_mib, sized.compute_milli, ceilings, kind):
        return Reason.CEILING
    geometry = kind.geometry(sized.mode)
    if geometry is None or not sized.profiles:
        return sized
    profiles = tuple(
        i
        for i in sized.profiles
        if _below(
            geometry.profiles[i].memory_mib,
            profile_compute_milli(geometry, geometry.profiles[i]),
            ceilings,
            kind,
        )
    )
    return replace(sized, profiles=profiles)


def _below(memory: int, compute: int, ceilings: tuple[Ceiling, ...], kind: CardKind) -> bool:
    binding = [c for c in ceilings if c.scope is not CeilingScope.CARD_SPLIT or kind.mixed]
    return all(
        compute <= c.compute_milli and memory * FULL <= c.memory_milli * kind.size.memory_mib
        for c in binding
    )
