"""Reading and writing in a folder that the job owns: by handle, and no link is ever followed."""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from nodeagent.giveway.contract import FOLDER

MOST_BYTES = 4096


@contextlib.contextmanager
def _opened(home: Path) -> Iterator[int]:
    """A handle of the give-way folder of one job.

    Raises:
        OSError: it is gone, or the job has put something else in its place.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    outer = os.open(home, flags)
    try:
        inner = os.open(FOLDER, flags, dir_fd=outer)
    finally:
        os.close(outer)
    try:
        yield inner
    finally:
        os.close(inner)


def put(home: Path, name: str, body: bytes) -> None:
    """Write a whole file that the job can read, old or new, never torn.

    Raises:
        OSError: there is no such folder, or the disk is full.
    """
    beside = f".{name}.{secrets.token_hex(4)}"
    with _opened(home) as folder:
        made = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(beside, made, 0o600, dir_fd=folder)
        try:
            os.write(handle, body)
            os.fchmod(handle, 0o644)
        finally:
            os.close(handle)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)


def look(home: Path, name: str) -> tuple[bytes, float] | None:
    """A small plain file and when it was written (unix time); None when there is none such."""
    with contextlib.suppress(OSError), _opened(home) as folder:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        handle = os.open(name, flags, dir_fd=folder)
        try:
            found = os.fstat(handle)
            if stat.S_ISREG(found.st_mode) and found.st_size <= MOST_BYTES:
                return os.read(handle, MOST_BYTES), found.st_mtime
        finally:
            os.close(handle)
    return None
