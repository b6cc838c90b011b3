"""Published facts to inventory cards: what a model is and how it can be cut."""

import uuid
from typing import Any

from msgspec.structs import replace

from nodeagent.drivers.published import published, read
from nodeagent.protocol.inventory import Card, Geometry, Link, Profile
from nodeagent.protocol.vocabulary import MODE_ISOLATION, Mode, Vendor

NAMES = uuid.UUID("6f1c2a58-7d0e-4a55-9c0b-5f3f0f8f7a10")
"""Simulated cards keep their uuid over restarts: it is drawn from node name and index."""

LINK_SCORES = {True: 150, False: 20}
"""Pair score: across a bridge of the node, or with NVLink on one switch."""

DRIVERS = {
    Vendor.NVIDIA: ("580.95.05", "13.0"),
    Vendor.AMD: ("6.16.6", "7.1"),
    Vendor.ASCEND: ("25.3", "8.3"),
}
"""Driver and runtime versions that simulated cards claim."""


def geometry(
    mode: Mode, units: int, compute: int, profiles: tuple[Profile, ...], reset: bool = False
) -> Geometry:
    """A geometry with the isolation class of its mode."""
    return Geometry(mode, units, compute, profiles, MODE_ISOLATION[mode], reset)


def whole(row: dict[str, Any]) -> Geometry:
    """The card as one slice."""
    profile = Profile(
        "whole", "whole", 1, 1, row["usable_mib"], row["nominal_gb"], (0,), 1, row["cores"]
    )
    return geometry(Mode.WHOLE, 1, 1, (profile,))


def mig(row: dict[str, Any]) -> Geometry | None:
    """The card's own MIG table; None where it has none or memory sizes are not known."""
    if row["mig"] is None:
        return None
    table = read(f"mig/{row['mig']}.json")
    rows = [p for p in table["profiles"] if p["memory_mib"] is not None and p["starts"]]
    profiles = tuple(
        Profile(
            p["name"],
            str(p["id"]),
            p["compute"],
            p["size"],
            p["memory_mib"],
            p["nominal_gb"],
            tuple(p["starts"]),
            p["max_instances"],
            p["cores"],
            p["media"],
            p["encoders"],
            p["decoders"],
        )
        for p in rows
    )
    return geometry(
        Mode.MIG, table["units"], table["compute_units"], profiles, table["reset_to_enter"]
    )


def vnpu(row: dict[str, Any]) -> Geometry | None:
    """Templates of an Ascend chip: sized in AI cores, without a place."""
    if row["vnpu"] is None:
        return None
    chip = next(c for c in read("vnpu.json")["chips"] if c["chip"] == row["vnpu"])
    profiles = tuple(
        Profile(
            t["name"],
            t["name"],
            t["cores"],
            t["cores"],
            t["memory_mib"],
            t["memory_mib"] // 1024,
            (),
            min(chip["cores"] // t["cores"], chip["usable_mib"] // t["memory_mib"]),
            t["cores"],
        )
        for t in chip["templates"]
    )
    return geometry(Mode.VNPU, chip["cores"], chip["cores"], profiles)


def amd(row: dict[str, Any]) -> Geometry | None:
    """Partitions of an AMD card: all alike at any one time, without a place."""
    if row["amd"] is None:
        return None
    table = next(c for c in read("amd_partitions.json")["cards"] if c["card"] == row["amd"])
    units: int = table["units"]
    profiles = tuple(
        Profile(
            p["name"],
            p["name"],
            p["compute"],
            p["compute"],
            row["usable_mib"] * p["compute"] // units,
            p["nominal_gb"],
            (),
            p["max_instances"],
            row["cores"] * p["compute"] // units,
        )
        for p in table["profiles"]
    )
    return geometry(Mode.AMD_PARTITION, units, units, profiles)


def geometries(row: dict[str, Any]) -> tuple[Geometry, ...]:
    """Every way in which this model can be cut. Soft modes have no places and no profiles."""
    found: list[Geometry | None] = [whole(row), mig(row), vnpu(row), amd(row)]
    if row["vendor"] == Vendor.NVIDIA:
        found += [geometry(mode, 0, 100, ()) for mode in (Mode.MPS, Mode.TIMESLICE)]
    return tuple(one for one in found if one is not None)


def card_uuid(node: str, index: int, vendor: Vendor) -> str:
    """The same for the same place in the same node, whatever else the fleet file says."""
    prefix = {Vendor.NVIDIA: "GPU", Vendor.ASCEND: "NPU"}.get(vendor, "GPU")
    return f"{prefix}-{uuid.uuid5(NAMES, f'{node}/{index}')}"


def card(node: str, index: int, model: str, domain: str | None) -> Card:
    """One simulated card as its inventory row.

    Raises:
        published.UnknownModel
    """
    row = published(model)
    vendor = Vendor(row["vendor"])
    cut = geometries(row)
    driver, runtime = DRIVERS.get(vendor, (None, None))
    identity = card_uuid(node, index, vendor)
    return Card(
        uuid=identity,
        index=index,
        vendor=vendor,
        model=row["model"],
        label=row["label"],
        nominal_gb=row["nominal_gb"],
        memory_mib=row["usable_mib"],
        modes=tuple(g.mode for g in cut),
        geometries=cut,
        serial=f"SIM{uuid.UUID(identity.split('-', 1)[1]).int % 10**12:012d}",
        pci=f"00000000:{index + 16:02X}:00.0",
        architecture=row["architecture"],
        compute_capability=row["compute_capability"],
        precisions=tuple(row["precisions"]),
        driver=driver,
        runtime=runtime,
        cores=row["cores"],
        strength=row["strength"],
        tdp_w=row["tdp_w"],
        memory_gb_per_s=row["memory_gb_per_s"],
        nvenc=row["nvenc"],
        nvdec=row["nvdec"],
        graphics=row["graphics"],
        numa=0,
        domain=domain,
    )


def linked(cards: tuple[Card, ...], nvlinks: int) -> tuple[Card, ...]:
    """The same cards, each knowing its path to every other one of the node."""

    def links(one: Card) -> tuple[Link, ...]:
        def near(other: Card) -> bool:
            return one.domain is not None and one.domain == other.domain

        return tuple(
            Link(other.uuid, LINK_SCORES[near(other)], nvlinks if near(other) else 0)
            for other in cards
            if other.uuid != one.uuid
        )

    return tuple(replace(one, links=links(one)) for one in cards)
