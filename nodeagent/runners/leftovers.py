"""What an account leaves in the memory that all of a machine share, once none of its work runs.

Jobs behind walls have such memory of their own, which goes with them. Those that meet a daemon of
the host (MPS), and jobs of nodes without walls, use the machine's: System V segments, semaphores
and queues, and files below /dev/shm and /dev/mqueue, which no end of a process takes away.
"""

import contextlib
import ctypes
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
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

DEEPEST = 64
"""Folders in folders that are looked through; what a job lays deeper stays."""

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
MORE = re.compile(r"and (\d+) more")

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
    """Not more than people read; things that were cut before still count."""
    names = tuple(word for word in words if not MORE.fullmatch(word))
    cut = sum(int(found[1]) for word in words if (found := MORE.fullmatch(word)))
    rest = len(names[MOST:]) + cut
    return (*names[:MOST], f"and {rest} more") if rest else names


def take(
    uid: int | None,
    expected: Callable[[], bool] = lambda: False,
    sysv: Path = SYSV,
    shared: tuple[Path, ...] = SHARED,
) -> tuple[str, ...]:
    """Remove what the account holds in shared memory, and name it. Nothing is touched while any
    process of it lives or is `expected`, nor of accounts that others than jobs use: the agent's
    own, the system's.

    What an MPS server that still runs as the account has attached or mapped stays.
    """
    if uid is None or uid < LOWEST_UID or uid in (NOBODY, os.getuid()):
        return ()
    # Listed first: what is made by work that comes after the two questions is not in the list, and
    # whoever made what is in it is expected, lives, or has ended.
    ipc = [(kind, row) for kind in KINDS for row in _rows(sysv / kind.table, uid)]
    files = [(folder, one) for folder in shared for one in _files(folder, uid)]
    alive = _alive(uid)
    if expected() or any(processes.name(pid) != SERVER for pid in alive):
        return ()
    kept = {path for pid in alive for path in _mapped(pid)}
    gone = [word for kind, row in ipc if (word := _removed(kind, row))]
    return (*gone, *(word for row in files if (word := _unlinked(*row, uid, kept))))


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


@dataclass(frozen=True)
class Name:
    """A name that an account owns: the folders on the way to it and itself, as it was listed."""

    way: tuple[str, ...]
    inode: int
    size: int


@contextlib.contextmanager
def _opened(folder: Path, way: tuple[str, ...]) -> Iterator[int]:
    """A handle of a folder below; no step may be a link, so that it never lies elsewhere.

    Raises:
        OSError: a step is gone, or is no folder any more.
    """
    handle = os.open(folder, FOLDER)
    try:
        for step in way:
            following = os.open(step, FOLDER | os.O_NOFOLLOW, dir_fd=handle)
            os.close(handle)
            handle = following
        yield handle
    finally:
        os.close(handle)


def _files(folder: Path, uid: int) -> list[Name]:
    """Names below the folder that the account owns, the deepest first. The agent's and the system's
    own folders are not walked into: there lie the secrets of work that is about to start.
    """
    found: list[Name] = []
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        way = waiting.pop()
        with contextlib.suppress(OSError), _opened(folder, way) as handle:
            for name, seen in _listed(handle):
                is_folder = stat.S_ISDIR(seen.st_mode)
                if is_folder and seen.st_uid not in (0, os.getuid()) and len(way) < DEEPEST:
                    waiting.append((*way, name))
                if seen.st_uid == uid:
                    size = seen.st_size if stat.S_ISREG(seen.st_mode) else 0
                    found.append(Name((*way, name), seen.st_ino, size))
    return found[::-1]


def _listed(handle: int) -> Iterator[tuple[str, os.stat_result]]:
    for name in os.listdir(handle):  # noqa: PTH208 - of a handle
        with contextlib.suppress(OSError):
            yield name, os.stat(name, dir_fd=handle, follow_symlinks=False)


def _unlinked(folder: Path, one: Name, uid: int, kept: set[str]) -> str:
    """Take one name away if it is still what was listed. The folders above it may be another
    account's, whose work lives and may swap them for links meanwhile: so handles lead there.
    """
    if str(folder.joinpath(*one.way)) in kept:
        return ""
    *above, name = one.way
    with contextlib.suppress(OSError), _opened(folder, tuple(above)) as handle:
        seen = os.stat(name, dir_fd=handle, follow_symlinks=False)
        if (seen.st_uid, seen.st_ino) != (uid, one.inode):
            return ""
        if stat.S_ISDIR(seen.st_mode):
            os.rmdir(name, dir_fd=handle)
            return ""
        os.unlink(name, dir_fd=handle)
        return f"{folder / _plain('/'.join(one.way))} ({_mib(one.size)})"
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
