"""`amd-smi` and `rocm-smi` in their JSON forms; older and newer ones differ in shape."""

import json
from typing import Any

from nodeagent.drivers.amd.cards import Entry, flat, named
from nodeagent.drivers.amd.occupants import Pids, of_tool
from nodeagent.drivers.base import NotSupported, Refused
from nodeagent.drivers.programs import Programs
from nodeagent.drivers.words import first, number

AMD, ROCM = "amd-smi", "rocm-smi"


def entries(programs: Programs) -> tuple[Entry, ...]:
    """Every card and partition that the tool lists, with its meters.

    Raises:
        NotSupported: neither tool is installed.
        Busy, Refused: it does not answer, or not in a form that is known.
    """
    if programs.has(AMD):
        return _from_amd(programs)
    if programs.has(ROCM):
        return _from_rocm(programs)
    raise NotSupported("neither amd-smi nor rocm-smi is installed")


def occupants(programs: Programs) -> Pids:
    """The processes on each of them; rocm-smi does not tell on which card one is.

    Raises:
        NotSupported, Busy, Refused
    """
    return of_tool(_rows(_json(programs, AMD, "process", "--json"))) if programs.has(AMD) else {}


def part(programs: Programs, index: int, kind: str) -> None:
    """Put a board into a compute partition: SPX is whole, then DPX, QPX, CPX.

    Raises:
        NotSupported, Busy, Refused
    """
    if programs.has(AMD):
        programs.run(AMD, "set", "--gpu", str(index), "--compute-partition", kind)
        return
    programs.run(ROCM, "-d", str(index), "--setcomputepartition", kind)


def _json(programs: Programs, name: str, *arguments: str) -> Any:
    said = programs.run(name, *arguments)
    start = min((place for place in (said.find("["), said.find("{")) if place >= 0), default=-1)
    try:
        # Warnings may stand before and after the document.
        return json.JSONDecoder().raw_decode(said[start:])[0] if start >= 0 else None
    except ValueError as bad:
        raise Refused(f"{name} answered no JSON: {bad}") from bad


def _rows(document: Any) -> list[dict[str, Any]]:
    """The list of cards, bare in older tools and under a name in newer ones."""
    if isinstance(document, dict):
        document = document.get("gpu_data", [])
    return [row for row in document or [] if isinstance(row, dict)]


def _from_amd(programs: Programs) -> tuple[Entry, ...]:
    listed = _rows(_json(programs, AMD, "list", "--json"))
    fixed = {row.get("gpu"): flat(row) for row in _rows(_json(programs, AMD, "static", "--json"))}
    moving = {row.get("gpu"): flat(row) for row in _rows(_json(programs, AMD, "metric", "--json"))}
    found = []
    for row in listed:
        gpu = row.get("gpu")
        facts = fixed.get(gpu, {})
        values = moving.get(gpu, {})
        size = first(facts, "size") or first(values, "total_vram") or 0
        uuid = named(row, "uuid") or f"GPU-{named(row, 'bdf')}"
        found.append(
            Entry(
                index=int(gpu or 0),
                uuid=uuid,
                bdf=named(row, "bdf"),
                name=named(facts, "market_name", "product_name") or "AMD card",
                memory_mib=int(size),
                driver=named(facts, "driver_version", "version") or None,
                values=values,
                partition=int(number(row.get("partition_id")) or 0),
            )
        )
    return tuple(found)


def _from_rocm(programs: Programs) -> tuple[Entry, ...]:
    document = _json(programs, ROCM, "-a", "--showmeminfo", "vram", "--json") or {}
    driver = named(document.get("system", {}), "Driver version") or None
    found = []
    for name, row in sorted(document.items()):
        if not name.startswith("card"):
            continue
        bdf = named(row, "PCI Bus")
        unique = named(row, "Unique ID")
        size = number(row.get("VRAM Total Memory (B)")) or 0
        found.append(
            Entry(
                index=int(name.removeprefix("card")),
                uuid=f"GPU-{unique.removeprefix('0x')}" if unique else f"GPU-{bdf}",
                bdf=bdf,
                name=named(row, "Card Series", "Card series", "Device Name", "Card Model")
                or "AMD card",
                memory_mib=int(size) // 1024 // 1024,
                driver=driver,
                values=row,
            )
        )
    return tuple(found)
