"""The way into a notebook on this node: its socket, never one that a job put in its place."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from nodeagent.protocol.notebooks import SOCKET

FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def way_in(home: Path) -> Iterator[str]:
    """A short path to connect to, good as long as the context lasts.

    The folder belongs to the job: a link in it could name a socket of the machine, which the agent
    may use and the job may not. So no link is followed, and the socket must be the job's own.

    Raises:
        OSError: there is none, or it is not the job's own.
    """
    folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | FLAGS)
    try:
        handle = os.open(SOCKET, os.O_PATH | FLAGS, dir_fd=folder)
        try:
            found, owner = os.fstat(handle), os.fstat(folder)
            if not stat.S_ISSOCK(found.st_mode) or found.st_uid != owner.st_uid:
                raise PermissionError(f"{SOCKET} is not the notebook's own socket")
            yield f"/proc/self/fd/{handle}"
        finally:
            os.close(handle)
    finally:
        os.close(folder)
