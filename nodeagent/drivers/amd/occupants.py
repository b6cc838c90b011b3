"""Which processes are on a board or partition, by what AMD's library and tool say of each."""

import os
from collections.abc import Mapping
from typing import Any

from nodeagent.drivers.amd.cards import Entry
from nodeagent.drivers.nvml.strangers import strangers
from nodeagent.drivers.words import number
from nodeagent.protocol.report import CardHealth

Pids = Mapping[int, frozenset[int]]
"""Processes by the number that an entry has in its list; one that does not tell is absent."""


def of_library(module: Any) -> Pids:
    """Newer versions list rows, older ones handles that a second call explains."""
    found = {}
    for index, handle in enumerate(module.amdsmi_get_processor_handles()):
        try:
            listed = module.amdsmi_get_gpu_process_list(handle)
        except Exception:  # noqa: BLE001, S112 - its kinds differ by version; it is not told
            continue
        pids = (_number(module, handle, one) for one in listed)
        found[index] = frozenset(pid for pid in pids if pid is not None)
    return found


def _number(module: Any, handle: Any, one: Any) -> int | None:
    if not isinstance(one, dict):
        try:
            one = module.amdsmi_get_gpu_process_info(handle, one)
        except Exception:  # noqa: BLE001 - as above: most often it has ended meanwhile
            return None
    return _pid(one)


def of_tool(rows: list[dict[str, Any]]) -> Pids:
    """From rows by the tool's own numbers; where nothing runs it says so in words."""
    found = {}
    for row in rows:
        listed = row.get("process_list") or ()
        told = [one.get("process_info") for one in listed if isinstance(one, dict)]
        pids = (_pid(one) for one in told if isinstance(one, dict))
        found[int(row.get("gpu") or 0)] = frozenset(pid for pid in pids if pid is not None)
    return found


def _pid(row: dict[str, Any]) -> int | None:
    value = number(row.get("pid"))
    return int(value) if value else None


def health(board: Entry, parts: list[Entry], pids: Pids) -> CardHealth:
    """A board that is listed lives; work of strangers on it, or on a partition of it, is named."""
    # This process has the library open, and so it may be listed itself.
    there = [
        (part, pids.get(part.index, frozenset()) - {os.getpid()})
        for part in sorted(parts, key=lambda one: one.partition)
    ]
    foreign: dict[str, None] = {}
    # Each question looks at all processes of the machine: one for the board is the ordinary case.
    if strangers(sorted(frozenset().union(*(inside for _, inside in there)))):
        for part, inside in there:
            where = f" on partition {part.partition}" if len(parts) > 1 else ""
            foreign |= dict.fromkeys(name + where for name in strangers(sorted(inside)))
    if not foreign:
        return CardHealth(uuid=board.uuid, health="ok")
    why = "work that the pool did not start: " + ", ".join(foreign)
    return CardHealth(uuid=board.uuid, health="contested", reason=why, foreign=tuple(foreign))
