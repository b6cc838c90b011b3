"""What AMD's tools say, in one form whatever tool said it: a card's facts, a reading, a health."""

from dataclasses import dataclass, field
from typing import Any

from nodeagent.drivers.published import UnknownModel, enriched, nominal_gb, published, read
from nodeagent.drivers.words import first, number, text
from nodeagent.protocol.inventory import Ability, Card, Geometry, Profile
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import MODE_ISOLATION, Isolation, Mode, Vendor

WHOLE = Ability(mode=Mode.WHOLE, memory="hardware", compute="hardware")
PARTITION = Ability(
    mode=Mode.AMD_PARTITION,
    memory="hardware",
    compute="hardware",
    note="all partitions of one card are alike; never tried on a real card by this project",
)

SLACK = 1.05
"""How much more than is published of its model the memory of a board may seem to be."""


@dataclass(frozen=True)
class Entry:
    """One card as a tool lists it, with the tool's own numbers under their own names.

    `partition` is its place among the partitions of one board; 0 for a board that is whole.
    """

    index: int
    uuid: str
    bdf: str
    name: str
    memory_mib: int
    driver: str | None
    values: dict[str, Any] = field(default_factory=dict)
    partition: int = 0


def card(entry: Entry) -> Card:
    """The inventory row of a board."""
    nominal = nominal_gb(entry.memory_mib)
    whole = Profile("whole", "whole", 1, 1, entry.memory_mib, nominal, (0,), 1)
    geometries = [Geometry(Mode.WHOLE, 1, 1, (whole,), Isolation.HARDWARE)]
    parts = partitions(entry)
    if parts is not None:
        geometries.append(parts)
    model = entry.name
    return enriched(
        Card(
            uuid=entry.uuid,
            index=entry.index,
            vendor=Vendor.AMD,
            model=model,
            label=model.removeprefix("AMD ").replace(" ", "-"),
            nominal_gb=nominal,
            memory_mib=entry.memory_mib,
            modes=tuple(one.mode for one in geometries),
            geometries=tuple(geometries),
            pci=entry.bdf,
            driver=entry.driver,
            abilities=(WHOLE,) if parts is None else (WHOLE, PARTITION),
        )
    )


def partitions(entry: Entry) -> Geometry | None:
    """How the board can be parted, where that is published of its model."""
    try:
        row = published(entry.name)
    except UnknownModel:
        return None
    table = next((t for t in read("amd_partitions.json")["cards"] if t["card"] == row["amd"]), None)
    if table is None:
        return None
    units = int(table["units"])
    profiles = tuple(
        Profile(
            one["name"],
            one["name"].split(".")[0].upper(),
            one["compute"],
            one["compute"],
            entry.memory_mib * one["compute"] // units,
            one["nominal_gb"],
            (),
            one["max_instances"],
            row["cores"] * one["compute"] // units,
        )
        for one in table["profiles"]
    )
    return Geometry(Mode.AMD_PARTITION, units, units, profiles, MODE_ISOLATION[Mode.AMD_PARTITION])


def whole_mib(parts: list[Entry]) -> int:
    """The memory of a board in MiB. Some drivers show each partition its share of it, some all."""
    first = next(one for one in parts if one.partition == 0)
    together = sum(one.memory_mib for one in parts)
    try:
        most = int(published(first.name)["usable_mib"] * SLACK)
    except UnknownModel:
        return first.memory_mib
    return max(first.memory_mib, together) if together <= most else first.memory_mib


def reading(at: float, entry: Entry) -> Reading:
    """A card's row: whatever of the tool's names holds a number."""
    values = entry.values
    return Reading(
        at=at,
        card=entry.uuid,
        util_mean=first(values, "gfx_activity", "gfx", "GPU use (%)"),
        sm_mean=first(values, "gfx_activity", "gfx", "GPU use (%)"),
        bandwidth_mean=first(values, "umc_activity", "umc", "GPU Memory Read/Write Activity (%)"),
        memory_mib_mean=_used(values),
        power_w_mean=first(
            values,
            "socket_power",
            "current_socket_power",
            "average_socket_power",
            "Current Socket Graphics Package Power (W)",
            "Average Graphics Package Power (W)",
        ),
        temperature_c_max=first(
            values,
            "hotspot",
            "junction",
            "Temperature (Sensor junction) (C)",
            "edge",
            "Temperature (Sensor edge) (C)",
        ),
        pcie_width=_count(first(values, "pcie_width", "width")),
        pcie_generation=_generation(first(values, "pcie_speed", "speed")),
        ecc_corrected=_count(first(values, "total_correctable_count", "correctable_count")),
        ecc_uncorrected=_count(first(values, "total_uncorrectable_count", "uncorrectable_count")),
    )


def _used(values: dict[str, Any]) -> float | None:
    """Newer tools count in MB, which here are MiB; the older one in bytes."""
    told = first(values, "used_vram", "vram_used")
    if told is not None:
        return told
    size = number(values.get("VRAM Total Used Memory (B)"))
    return None if size is None else size / 1024 / 1024


GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
"""PCIe generations by their speed in GT/s."""


def _generation(speed: float | None) -> int | None:
    """By the speed of a lane: the command tells it in GT/s, the library in MT/s."""
    if speed is None:
        return None
    return GENERATIONS.get(speed / 1000 if speed >= 1000 else speed)


def _count(value: float | None) -> int | None:
    return None if value is None else int(value)


def flat(document: Any) -> dict[str, Any]:
    """Nested words of a tool as one level: what is innermost keeps its own name.

    {"usage": {"gfx_activity": {"value": 3, "unit": "%"}}} becomes {"gfx_activity": {...}}.
    """
    found: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict) and "value" not in value:
            found |= flat(value)
        else:
            found[name] = value
    return found


def named(values: dict[str, Any], *names: str) -> str:
    """The first of these keys that holds words; "" when none does."""
    return next((w for w in (text(values.get(name)) for name in names) if w is not None), "")
