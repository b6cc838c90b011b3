"""Small files that a crash leaves either old or new, never torn."""

import contextlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any


def write_whole(path: Path, body: bytes, *, mode: int = 0o600, sync: bool = True) -> None:
    """Replace the file in one step; with `sync` it is on the disk when this returns.

    Raises:
        OSError: the folder cannot be written.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    beside = Path(name)
    try:
        _fill(handle, body, mode, sync)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_first(path: Path, body: bytes, *, mode: int = 0o600) -> bytes:
    """Write the file unless there is one; what it holds then. Two writers get the same bytes.

    Raises:
        OSError: the folder cannot be written, or the file cannot be read.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    beside = Path(name)
    try:
        _fill(handle, body, mode, sync=True)
        # A link is made by one caller alone, and it shows a whole file.
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return path.read_bytes()


def _fill(handle: int, body: bytes, mode: int, sync: bool) -> None:
    with os.fdopen(handle, "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(body)
        file.flush()
        if sync:
            os.fsync(file.fileno())


def write_json(path: Path, value: dict[str, Any], *, sync: bool = True) -> None:
    """One dictionary as a whole file."""
    write_whole(path, json.dumps(value, ensure_ascii=False).encode(), sync=sync)


def read_json(path: Path) -> dict[str, Any] | None:
    """The dictionary in the file; None when it is absent, torn or no dictionary."""
    with contextlib.suppress(OSError, ValueError):
        value = json.loads(path.read_bytes())
        if isinstance(value, dict):
            return value
    return None


def read_pairs(path: Path) -> dict[str, str] | None:
    """Lines of `key=value` as the shim writes them; None when absent or torn (no closing line)."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        lines = path.read_text(encoding="utf-8").splitlines()
        if lines and lines[-1] == "end":
            return dict(line.split("=", 1) for line in lines[:-1] if "=" in line)
    return None


def write_pairs(path: Path, pairs: dict[str, object], *, sync: bool = True) -> None:
    """The same form as the shim's: lines of `key=value` and a closing `end`."""
    lines = [f"{k}={'' if v is None else ' '.join(str(v).split())}" for k, v in pairs.items()]
    write_whole(path, ("\n".join([*lines, "end"]) + "\n").encode("utf-8", "replace"), sync=sync)


def read_of_job(home: Path, steps: tuple[str, ...], *, most: int) -> bytes:
    """The first `most` bytes of a plain file in a folder that a job owns.

    No link is followed at any step, so that a job cannot show us what it may not see itself; a pipe
    does not make us wait.

    Raises:
        OSError: it is not there, or a step of the way is a link or no folder.
        ValueError: it is no plain file.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(home, flags | os.O_DIRECTORY)
    try:
        for number, step in enumerate(steps, 1):
            folder = 0 if number == len(steps) else os.O_DIRECTORY
            following = os.open(step, flags | folder, dir_fd=handle)
            os.close(handle)
            handle = following
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError(f"{steps[-1]} is no plain file")
        return os.read(handle, most)
    finally:
        os.close(handle)
