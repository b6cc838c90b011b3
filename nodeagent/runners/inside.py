"""Whose container a process is in, by the control group that the engine put it into.

An engine's processes hang below its own daemon, not below the shim that ran its command line. The
engine writes the container's number (64 hex digits, by nobody to be guessed) into a file of the
agent; the same number stands in the path of the control group of every process inside.
"""

import contextlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from nodeagent import processes

NUMBER = re.compile(r"[0-9a-f]{64}")
FILE = "container"
"""The engine's word beside an attempt's record; no job can write there."""


def number_in(file: Path) -> str:
    """The container's number; empty while the engine has not written one."""
    with contextlib.suppress(OSError):
        said = file.read_text(encoding="ascii", errors="replace").strip()
        return said if NUMBER.fullmatch(said) else ""
    return ""


def numbers(files: Iterable[Path]) -> frozenset[str]:
    """Those of all these files that have one."""
    return frozenset(filter(None, map(number_in, files)))


def container_of(pid: int, known: frozenset[str]) -> str:
    """Which of the known containers the process is in; empty when in none. Threads of its own
    engine (the client, the monitor) are in none.
    """
    if not known:
        return ""
    return next((one for one in NUMBER.findall(processes.groups(pid)) if one in known), "")


def members(seen: Mapping[int, processes.Process], known: frozenset[str]) -> dict[str, set[int]]:
    """The processes of each known container among those that were seen."""
    found: dict[str, set[int]] = {one: set() for one in known}
    for pid in seen if known else ():
        inside = container_of(pid, known)
        if inside:
            found[inside].add(pid)
    return found
