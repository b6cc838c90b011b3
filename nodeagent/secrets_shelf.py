"""Secret files of attempts: in memory, for one account, gone when the attempt is clean."""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from nodeagent.mounts import type_of
from nodeagent.runners.accounts import Account

SHELF = Path("/dev/shm")  # noqa: S108 - a folder of its own is made there, closed to others
IN_MEMORY = frozenset({"tmpfs", "ramfs"})


def place_of(owner: str, name: str) -> Path:
    """Where the secret files of an attempt lie; `owner` tells agents of one machine apart."""
    return SHELF / f"{_prefix(owner)}{name}"


def put(folder: Path, files: Mapping[str, str], account: Account) -> None:
    """Write the files for the account alone.

    Raises:
        ValueError: this node could only keep them on a disk.
        OSError: the memory is full.
    """
    if type_of(str(SHELF)) not in IN_MEMORY:
        raise ValueError("this node has no memory file system for secret files")
    remove(folder)
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
    with contextlib.suppress(FileNotFoundError):
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink()
        else:
            shutil.rmtree(folder, ignore_errors=True)


def sweep(owner: str, keep: set[str]) -> None:
    """Take away what an earlier agent of this node left behind."""
    prefix = _prefix(owner)
    with contextlib.suppress(OSError):
        for folder in SHELF.glob(f"{prefix}*"):
            if folder.name.removeprefix(prefix) not in keep:
                remove(folder)


def _prefix(owner: str) -> str:
    return f"gpupool-{hashlib.sha256(owner.encode()).hexdigest()[:12]}-"


def _own(handle: int, account: Account) -> None:
    if account.uid is not None and account.gid is not None:
        os.fchown(handle, account.uid, account.gid)
