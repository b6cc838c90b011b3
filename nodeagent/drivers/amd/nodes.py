"""The render device of a board, or of a partition of it: found by PCI address, never by number."""

from pathlib import Path

from nodeagent.drivers.base import Busy

SYS = Path("/sys")
BUS_AND_FUNCTION = 0xFFFF
"""The lower bits of a location: bus, device, function; a partition's number stands above them."""


def render_node(bdf: str, partition: int | None, sys: Path = SYS) -> str:
    """The file under /dev/dri of a board, or (with a number) of one of its partitions.

    Raises:
        Busy: the kernel does not know it now.
    """
    if partition is None:
        found = sorted((sys / "bus/pci/devices" / bdf / "drm").glob("renderD*"))
        if len(found) != 1:
            raise Busy(f"the kernel names no render device of {bdf}")
        return f"/dev/dri/{found[0].name}"
    minors = _minors(bdf, sys)
    if partition >= len(minors):
        raise Busy(f"the kernel names no render device of partition {partition} of {bdf}")
    return f"/dev/dri/renderD{minors[partition]}"


def _minors(bdf: str, sys: Path) -> list[int]:
    """Those of a board's partitions in their order, as the compute driver lists them."""
    domain, bus, rest = bdf.split(":")
    device, function = rest.split(".")
    place = int(bus, 16) << 8 | int(device, 16) << 3 | int(function, 16)
    found = []
    nodes = (sys / "class/kfd/kfd/topology/nodes").glob("*/properties")
    for file in sorted(nodes, key=lambda one: int(one.parent.name)):
        words = dict(
            line.split(maxsplit=1) for line in file.read_text().splitlines() if " " in line
        )
        here = int(words.get("location_id", "0")) & BUS_AND_FUNCTION
        minor = int(words.get("drm_render_minor", "0"))
        if minor > 0 and here == place and int(words.get("domain", "0")) == int(domain, 16):
            found.append(minor)
    return found
