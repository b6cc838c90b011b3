"""Small files that a crash leaves either old or new, never torn."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any


def write_whole(path: Path, body: bytes, *, mode: int = 0o600, sync: bool = True) -> None:
    """Replace the file in one step; with `sync` it is on the disk when this returns.

    Raises:
        OSError: the folder cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        os.write(handle, body)
        if sync:
            os.fsync(handle)
    finally:
        os.close(handle)
    beside.replace(path)


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
