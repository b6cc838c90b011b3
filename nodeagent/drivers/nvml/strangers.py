"""Whose are the processes on a card: the pool's own hang below one of its shims."""

import contextlib
import os
from pathlib import Path

from nodeagent import processes
from nodeagent.runners.adoption import SHIM_LABEL


def strangers(pids: list[int]) -> tuple[str, ...]:
    """Name and number of those that no shim of this account started.

    A number that this machine does not show (another process namespace) says nothing of its owner,
    so it is nobody's fault.
    """
    if not pids:
        return ()
    shims = {
        pid for pid, _ in processes.labelled(SHIM_LABEL) if processes.real_uid(pid) == os.getuid()
    }
    there = [pid for pid in sorted(pids) if processes.look(pid) is not None]
    return tuple(f"{_name(pid)} ({pid})" for pid in there if not _below(pid, shims))


def _below(pid: int, shims: set[int]) -> bool:
    while pid > 0:
        if pid in shims:
            return True
        process = processes.look(pid)
        pid = 0 if process is None else process.parent
    return False


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        comm = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace")
        return comm.strip()
    return "?"
