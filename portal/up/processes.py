"""Processes as the kernel shows them: whose parent died, who still stands in a folder."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Adopt every orphan among the descendants, so that none outlives the supervisor unseen.

    Raises:
        OSError: the kernel refuses (it never does on Linux ≥ 3.4).
    """
    if _LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def dies_with(parent: int, how: signal.Signals) -> Callable[[], None]:
    """For `preexec_fn`: the kernel sends `how` when `parent`'s main thread is gone."""

    def arrange() -> None:
        _LIBC.prctl(PR_SET_PDEATHSIG, int(how), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return arrange


def standing_in(folder: Path) -> list[int]:
    """Pids whose working directory is `folder` or below: every PostgreSQL process does."""
    inside = os.path.realpath(folder)
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            where = str((entry / "cwd").readlink())
            if where == inside or where.startswith(inside + "/"):
                found.append(int(entry.name))
    return found


def descendants(of: int) -> list[int]:
    """Every live process below `of`; zombies are not counted, for they hold nothing."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            state, parent = _state_and_parent(entry)
            if state not in "ZX":
                parents[int(entry.name)] = parent
    found: list[int] = []
    edge = {of}
    while edge:
        edge = {pid for pid, parent in parents.items() if parent in edge}
        found += sorted(edge)
    return found


def _state_and_parent(entry: Path) -> tuple[str, int]:
    """Fields 3 and 4 of stat; the name before them may hold spaces and brackets."""
    fields = (
        (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    )
    return fields[0], int(fields[1])


def end_all(find: Callable[[], list[int]], seconds: float = 5.0) -> None:
    """SIGKILL what `find` returns until it returns nothing, at most `seconds` long."""
    until = time.monotonic() + seconds
    while (pids := find()) and time.monotonic() < until:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
