"""What a simulated card's meters show: drawn from the processes that really run on its slices."""

from typing import Any

from msgspec.structs import replace

from nodeagent.drivers.base import Load, beside
from nodeagent.protocol.inventory import Card
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import Fidelity, Mode

IDLE_POWER = 0.15
"""Share of the design power that an idle card draws."""

COOL_C, HOT_C = 34.0, 44.0
"""Temperature of an idle card, and how much warmer full load makes it."""


def share(card: Card, found: FoundSlice, compute: dict[str, int]) -> float:
    """How much of the card's compute this slice may use at most, in per cent."""
    if found.mode == Mode.WHOLE:
        return 100.0
    for geometry in card.geometries:
        for profile in geometry.profiles:
            if geometry.mode == found.mode and profile.name == found.profile:
                return 100.0 * profile.compute / geometry.compute_units
    return compute.get(found.uid or "", 0) / 10


def read(
    at: float,
    card: Card,
    slices: list[FoundSlice],
    compute: dict[str, int],
    loads: tuple[Load, ...],
    said: dict[str, Any],
) -> list[Reading]:
    """One reading for each slice and one for the card. `said` is the script's word and wins."""
    by_uid = {load.slice: load for load in loads}
    rows: list[Reading] = []
    sm_total, memory_total = 0.0, 0.0
    for found in slices:
        load = by_uid.get(found.uid or "")
        sm, memory = _used(share(card, found, compute), found, load)
        sm_total += sm
        memory_total += memory
        rows.append(_slice_row(at, card, found, load, sm, memory))
    rows.append(_card_row(at, card, slices, sm_total, memory_total, said))
    return rows


def scripted(row: Reading, said: dict[str, Any]) -> Reading:
    """A slice's row with the processes that the script puts there: their memory is summed."""
    sizes = said.get("processes_mib")
    changes: dict[str, Any] = {}
    if sizes is not None:
        total = float(sum(float(size) for size in sizes))
        changes = {"memory_mib_mean": total, "fidelity": Fidelity.MEASURED}
    for name, key in (("util_mean", "util"), ("sm_mean", "sm")):
        if key in said:
            changes[name] = said[key]
    return replace(row, **changes) if changes else row


def rubbish(row: Reading) -> Reading:
    """What dead counters have been seen to show."""
    return replace(
        row,
        util_mean=65535.0,
        sm_mean=-1.0,
        memory_mib_mean=float(2**60),
        power_w_mean=1e9,
        temperature_c_max=32767.0,
    )


def _used(most: float, found: FoundSlice, load: Load | None) -> tuple[float, float]:
    """SM use in per cent of the card, memory in MiB: an empty slice uses nothing."""
    if load is None:
        return 0.0, 0.0
    sm = min(most, 100.0 * (load.cpu or 0.0))
    memory = found.memory_mib / 2 if load.reserved_mib is None else float(load.reserved_mib)
    return sm, memory


def _slice_row(
    at: float, card: Card, found: FoundSlice, load: Load | None, sm: float, memory: float
) -> Reading:
    row = Reading(
        at=at,
        card=card.uuid,
        util_mean=None if found.mode == Mode.MIG else sm,
        sm_mean=sm,
        memory_mib_mean=memory,
        fidelity=Fidelity.ESTIMATED,
    )
    return beside(row, found.uid or "", load)


def _card_row(
    at: float,
    card: Card,
    slices: list[FoundSlice],
    sm: float,
    memory: float,
    said: dict[str, Any],
) -> Reading:
    sm = min(sm, 100.0)
    mig = any(found.mode == Mode.MIG for found in slices)
    power = None if card.tdp_w is None else card.tdp_w * (IDLE_POWER + (1 - IDLE_POWER) * sm / 100)
    return Reading(
        at=at,
        card=card.uuid,
        util_mean=said.get("util", None if mig else sm),
        sm_mean=said.get("sm", sm),
        memory_mib_mean=said.get("memory_mib", memory),
        power_w_mean=said.get("power_w", power),
        temperature_c_max=said.get("temperature_c", COOL_C + HOT_C * sm / 100),
        ecc_corrected=said.get("ecc_corrected", 0),
        ecc_uncorrected=said.get("ecc_uncorrected", 0),
        throttle=said.get("throttle", 0),
        fidelity=Fidelity.ESTIMATED,
    )
