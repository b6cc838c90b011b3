"""What an account leaves in the memory that all of a machine share, once none of its work runs.

Jobs behind walls have such memory of their own, which goes with them. Those that meet a daemon of
the host (MPS), and jobs of nodes without walls, use the machine's: System V segments, semaphores
and queues, and files below /dev/shm and /dev/mqueue, which no end of a process takes away.
"""

import contextlib
import ctypes
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nodeagent import processes
from nodeagent.runners.accounts import LOWEST_UID, NOBODY

SYSV = Path("/proc/sysvipc")
SHARED = (Path("/dev/shm"), Path("/dev/mqueue"))  # noqa: S108 - looked through, never written to
SERVER = "nvidia-cuda-mps"
"""Name of the MPS server, which runs as the account of its client and outlives it."""

IPC_RMID = 0
MIB = 1024 * 1024
MOST = 40
"""How many of the things that were found are named one by one."""

LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Kind:
    """One table of System V IPC: its file, the column of its ids, and what it is called."""

    table: str
    column: str
    words: str

    def remove(self, number: int) -> bool:
        """Whether the kernel took it away."""
        if self.table == "sem":
            return bool(LIBC.semctl(number, 0, IPC_RMID) == 0)
        return bool(getattr(LIBC, f"{self.table}ctl")(number, IPC_RMID, None) == 0)


KINDS = (
    Kind("shm", "shmid", "shared memory segment"),
    Kind("sem", "semid", "semaphore set"),
    Kind("msg", "msqid", "message queue"),
)


def named(pids: Iterable[int]) -> tuple[str, ...]:
    """Processes by name and number, for people."""
    return tuple(f"process {processes.name(pid)} ({pid})" for pid in sorted(pids))


def short(words: tuple[str, ...]) -> tuple[str, ...]:
    """Not more than people read."""
    if len(words) <= MOST:
        return words
    return (*words[:MOST], f"and {len(words) - MOST} more")


def take(uid: int | None, sysv: Path = SYSV, shared: tuple[Path, ...] = SHARED) -> tuple[str, ...]:
    """Remove what the account holds in shared memory, and name it. Nothing is touched while any
    process of it lives, nor of accounts that others than jobs use: the agent's own, the system's.

    What an MPS server that still runs as the account has attached or mapped stays.
    """
    if uid is None or uid < LOWEST_UID or uid in (NOBODY, os.getuid()):
        return ()
    # Listed first: what a process makes that starts after the look at processes is not in it.
    ipc = [(kind, row) for kind in KINDS for row in _rows(sysv / kind.table, uid)]
    files = [(folder, *one) for folder in shared for one in _files(folder, uid)]
    alive = _alive(uid)
    if any(processes.name(pid) != SERVER for pid in alive):
        return ()
    kept = {path for pid in alive for path in _mapped(pid)}
    gone = [word for kind, row in ipc if (word := _removed(kind, row))]
    return (*gone, *(word for row in files if (word := _unlinked(*row, kept))))


def _rows(table: Path, uid: int) -> Iterator[dict[str, int]]:
    """Lines of a System V table that the account owns or made."""
    with contextlib.suppress(OSError):
        head, *lines = table.read_text(encoding="ascii").splitlines()
        for line in lines:
            row = dict(zip(head.split(), (int(word) for word in line.split()), strict=False))
            if uid in (row["uid"], row["cuid"]):
                yield row


def _removed(kind: Kind, row: dict[str, int]) -> str:
    number = row[kind.column]
    if row.get("nattch") or not kind.remove(number):
        return ""
    size = f" ({_mib(row['size'])})" if "size" in row else ""
    return f"{kind.words} {number}{size}"


def _files(folder: Path, uid: int) -> Iterator[tuple[str, int]]:
    """Names below the folder, and their sizes, that the account owns; the deepest first."""
    for top, folders, names in os.walk(folder, topdown=False, followlinks=False):
        for name in (*names, *folders):
            with contextlib.suppress(OSError):
                seen = (Path(top) / name).lstat()
                if seen.st_uid == uid:
                    size = seen.st_size if stat.S_ISREG(seen.st_mode) else 0
                    yield str((Path(top) / name).relative_to(folder)), size


def _unlinked(folder: Path, name: str, size: int, kept: set[str]) -> str:
    """Take one name away. No process of its owner lives, so that nothing turns into a link."""
    path = folder / name
    if str(path) in kept:
        return ""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
            return ""
        path.unlink()
        return f"{folder / _plain(name)} ({_mib(size)})"
    return ""


def _alive(uid: int) -> list[int]:
    """Processes that the account started and that live."""
    mine = [pid for pid in processes.pids() if processes.real_uid(pid) == uid]
    seen = ((pid, processes.look(pid)) for pid in mine)
    return [pid for pid, one in seen if one is not None and one.state not in "ZX"]


def _mapped(pid: int) -> set[str]:
    """Files that a process has in its memory."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
        return {line.split(None, 5)[5] for line in text.splitlines() if line.count("/")}
    return set()


def _plain(name: str) -> str:
    """A name that a job chose, for a line of text."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)[:80]


def _mib(size: int) -> str:
    return f"{size // MIB} MiB" if size >= MIB else f"{size} bytes"
