"""Secret files of attempts: in memory, for one account, gone when the attempt is clean.

They lie below a folder that is the agent's own: what cleans up after an account walks into none of
those, so that it never takes what a start has laid out for the next attempt of the same account.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import threading
from collections.abc import Mapping
from pathlib import Path

from nodeagent.mounts import type_of
from nodeagent.runners.accounts import Account

SHELF = Path("/dev/shm")  # noqa: S108 - a folder of its own is made there, closed to others
IN_MEMORY = frozenset({"tmpfs", "ramfs"})
PASSED = 0o711
"""The agent's own folder: accounts pass it, and see only what is theirs."""

_changing = threading.Lock()
"""The agent's own folder goes with the last shelf in it, never under one that is being made."""


def place_of(owner: str, name: str) -> Path:
    """Where the secret files of an attempt lie; `owner` tells agents of one machine apart."""
    return SHELF / _own_name(owner) / name


def put(folder: Path, files: Mapping[str, str], account: Account) -> None:
    """Write the files for the account alone.

    Raises:
        ValueError: this node could only keep them on a disk.
        OSError: the memory is full.
    """
    if type_of(str(SHELF)) not in IN_MEMORY:
        raise ValueError("this node has no memory file system for secret files")
    remove(folder)
    with _changing:
        _make_own(folder.parent)
        folder.mkdir(mode=0o700)
    for name, value in files.items():
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        handle = os.open(folder / name, flags, 0o400)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(value)
            _own(handle, account)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _own(handle, account)
    finally:
        os.close(handle)


def remove(folder: Path) -> None:
    """Take them away; somebody else's file or link of that name goes as well."""
    with _changing:
        if not _is_own(folder.parent):
            return
        _away(folder)
        with contextlib.suppress(OSError):  # others lie in it still
            folder.parent.rmdir()


def sweep(owner: str, keep: set[str]) -> None:
    """Take away what an earlier agent of this node left behind, one that was older included: its
    shelves lay side by side with those of other agents.
    """
    own = SHELF / _own_name(owner)
    with contextlib.suppress(OSError):
        for folder in list(own.iterdir()) if _is_own(own) else ():
            if folder.name not in keep:
                remove(folder)
    with contextlib.suppress(OSError):
        for folder in SHELF.glob(f"{own.name}-*"):
            if folder.name.removeprefix(f"{own.name}-") not in keep:
                _away(folder)


def _own_name(owner: str) -> str:
    return f"gpupool-{hashlib.sha256(owner.encode()).hexdigest()[:12]}"


def _make_own(folder: Path) -> None:
    """The agent's own folder; what somebody else has put under its name goes."""
    if not _is_own(folder):
        _away(folder)
        folder.mkdir()
    folder.chmod(PASSED)


def _is_own(folder: Path) -> bool:
    """Whether the folder is the agent's: then nobody else turns it into a link."""
    with contextlib.suppress(OSError):
        seen = folder.lstat()
        return stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid()
    return False


def _away(folder: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink()
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _own(handle: int, account: Account) -> None:
    if account.uid is not None and account.gid is not None:
        os.fchown(handle, account.uid, account.gid)
