"""From a need as people and rows say it to what the carver reads."""

from nodeagent.protocol.vocabulary import Mode
from pool.carving.sizes import Ask, CardSize, Share, share_of
from pool.rules.needs import Need

SHARING = (Mode.MIG, Mode.VNPU, Mode.AMD_PARTITION, Mode.VGPU, Mode.MPS, Mode.WHOLE)
"""Modes that may give a share, preferred first, where the template names none: each of them can
bound both memory and compute (requirement P6). Time slicing must be allowed by the template."""

PROFILED = frozenset({Mode.MIG, Mode.VNPU, Mode.AMD_PARTITION, Mode.VGPU})
"""Modes whose slices have profiles by name."""


def modes_of(need: Need, *, unlimited_modes: bool = False) -> tuple[Mode, ...]:
    """The modes a need may get, in order of preference; none for work without a card."""
    if need.parts == 0:
        return ()
    if need.whole:
        return (Mode.WHOLE,)
    named = tuple(Mode(one) for one in need.modes) or (*SHARING, Mode.TIMESLICE)
    if need.profile:
        named = tuple(one for one in named if one in PROFILED)
    return tuple(one for one in named if unlimited_modes or one is not Mode.TIMESLICE)


def ask_of(need: Need) -> Ask:
    """How big one part is, in the carver's words; a whole card asks for no share."""
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


def pair_on(need: Need, card: CardSize) -> Share | None:
    """The resolved pair of one part on one kind of card: usable MiB and thousandths of compute.

    None when the card is too small, or the size is a profile's name, which only the card's own
    geometry can tell. Memory alone takes the greater of the template's compute and its proportion.
    """
    if need.whole:
        return Share(card.memory_mib, 1000)
    if need.profile:
        return None
    return share_of(card, ask_of(need))
