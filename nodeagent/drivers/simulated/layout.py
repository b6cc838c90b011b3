"""What may lie beside what on a simulated card: the card's own law, apart from delays and files."""

from nodeagent.drivers.base import NotSupported, Refused
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Card, Geometry, Profile
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import PLACED_MODES, Mode

FULL_MILLI = 1000


def geometry_of(card: Card, mode: Mode) -> Geometry:
    """How the card is cut in that mode.

    Raises:
        NotSupported
    """
    for geometry in card.geometries:
        if geometry.mode == mode:
            return geometry
    raise NotSupported(f"{card.model} has no mode {mode}")


def check(
    card: Card, wanted: WantedSlice, present: list[FoundSlice], compute: dict[str, int]
) -> None:
    """Return when the slice fits beside those that are there. `compute` is in thousandths by uid.

    Raises:
        NotSupported: no such mode or profile.
        Refused: illegal place, place occupied, too many of the profile, or the sum is too large.
    """
    geometry = geometry_of(card, wanted.mode)
    if wanted.mode in (Mode.MPS, Mode.TIMESLICE):
        _check_sums(card, wanted, present, compute)
        return
    profile = _profile(geometry, wanted.profile)
    alike = sum(1 for found in present if found.profile == wanted.profile)
    if alike >= profile.max_instances:
        raise Refused(f"insufficient resources: at most {profile.max_instances} of {profile.name}")
    if wanted.mode in PLACED_MODES:
        _check_place(profile, wanted, present)
    else:
        _check_units(card, geometry, profile, present)


def _profile(geometry: Geometry, name: str) -> Profile:
    for profile in geometry.profiles:
        if profile.name == name:
            return profile
    raise NotSupported(f"no profile {name!r} in mode {geometry.mode}")


def _check_place(profile: Profile, wanted: WantedSlice, present: list[FoundSlice]) -> None:
    start = wanted.start
    size = wanted.size if wanted.mode == Mode.WHOLE else profile.size
    if start is None or start not in profile.starts or wanted.size != size or size is None:
        raise Refused(
            f"invalid placement: {profile.name} of size {profile.size} cannot be "
            f"{{{start},{wanted.size}}}, legal starts are {list(profile.starts)}"
        )
    for found in present:
        low, high = found.start or 0, (found.start or 0) + (found.size or 0)
        if start < high and low < start + size:
            raise Refused(f"insufficient resources: {found.profile} lies at {{{low},{found.size}}}")


def _check_units(
    card: Card, geometry: Geometry, profile: Profile, present: list[FoundSlice]
) -> None:
    sizes = {p.name: p.size for p in geometry.profiles}
    used = sum(sizes[found.profile] for found in present)
    memory = sum(found.memory_mib for found in present)
    if geometry.mode == Mode.AMD_PARTITION and any(f.profile != profile.name for f in present):
        raise Refused("insufficient resources: all partitions of one card are alike")
    if used + profile.size > geometry.units or memory + profile.memory_mib > card.memory_mib:
        raise Refused(f"insufficient resources: {used} of {geometry.units} units are in use")


def _check_sums(
    card: Card, wanted: WantedSlice, present: list[FoundSlice], compute: dict[str, int]
) -> None:
    memory = sum(found.memory_mib for found in present) + wanted.memory_mib
    milli = sum(compute.get(found.uid or "", 0) for found in present) + wanted.compute_milli
    if memory > card.memory_mib:
        raise Refused(
            f"insufficient resources: shares would sum to {memory} of {card.memory_mib} MiB"
        )
    if milli > FULL_MILLI:
        raise Refused(
            f"insufficient resources: shares would sum to {milli / 10:g} % of the compute"
        )
