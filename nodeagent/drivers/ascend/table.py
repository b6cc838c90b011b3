"""The table that `npu-smi info` draws: read by the names in its head, since its columns shift.

A chip takes two lines, and the head names both. Some chips have no HBM column, some a second
number, some show `-` or `NA` for what their other half tells.
"""

import re
from dataclasses import dataclass, field

PAIR = re.compile(r"(-?[\w.]+)\s*/\s*(-?[\w.]+)")
VERSION = re.compile(r"Version:\s*(\S+)")
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass
class Chip:
    """One chip's words under the names of the head, units left out; pairs are "used/total"."""

    npu: str
    name: str
    words: dict[str, str] = field(default_factory=dict)


@dataclass
class Table:
    """Everything the program drew: version, chips, and (npu, chip, pid) of processes."""

    version: str = ""
    chips: list[Chip] = field(default_factory=list)
    processes: list[tuple[str, str, int]] = field(default_factory=list)


def read(text: str) -> Table:
    """The table; lines of no known form are passed over."""
    table = Table()
    head: list[list[str]] = []
    open_chip: Chip | None = None
    processes = False
    for line in ESCAPES.sub("", text).splitlines():
        said = VERSION.search(line)
        if said is not None and not table.version:
            table.version = said[1]
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|") or len(cells) < 3:
            continue
        if cells[0].startswith("NPU"):
            processes = any("Process" in cell for cell in cells)
            head = [cells]
        elif cells[0].startswith("Chip"):
            head.append(cells)
        elif processes:
            _process(cells, table)
        elif len(head) == 2:
            open_chip = _chip(cells, head, open_chip, table)
    return table


def _chip(
    cells: list[str], head: list[list[str]], before: Chip | None, table: Table
) -> Chip | None:
    """Take one data line: the first of a chip opens it, the second fills and closes it."""
    if before is None:
        parts = cells[0].split(None, 1)
        if not parts or not parts[0].isdigit():
            return None
        chip = Chip(parts[0], parts[1].strip() if len(parts) > 1 else "")
        _fill(chip, head[0][1:], cells[1:])
        return chip
    _fill(before, head[1], cells)
    table.chips.append(before)
    return None


def _fill(chip: Chip, names: list[str], cells: list[str]) -> None:
    for head, cell in zip(names, cells, strict=False):
        keys = [key.split("(")[0] for key in head.split()]
        values = PAIR.sub(lambda pair: f"{pair[1]}/{pair[2]}", cell).split()
        chip.words.update(zip(keys, values, strict=False))


def _process(cells: list[str], table: Table) -> None:
    where = cells[0].split()
    if len(where) == 2 and cells[1].isdigit():
        table.processes.append((where[0], where[1], int(cells[1])))


def halves(words: str | None) -> tuple[str | None, str | None]:
    """The two sides of "used/total"."""
    if not words or "/" not in words:
        return None, None
    used, _, total = words.partition("/")
    return used, total
