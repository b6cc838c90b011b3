"""Two functions for jobs that give way; copy this file beside your program. No other package."""

import contextlib
import json
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

GIVE_WAY = 75
"""Exit with this to run again later; 0 would mean that the work is done."""

_answered: set[str] = set()
_listening = False


def should_yield() -> dict[str, Any] | None:
    """The notice to leave, or None. It is acknowledged by this call; ask often, it is cheap.

    The notice says `deadline` (seconds since 1970): what is still here then is killed.
    """
    _take_sigterm()
    name = os.environ.get("GPUPOOL_NOTICE_FILE", "")
    try:
        notice: dict[str, Any] = json.loads(Path(name).read_bytes()) if name else {}
    except (OSError, ValueError):
        return None
    order = str(notice.get("order", ""))
    if not order:
        return None
    if order not in _answered:
        _put(os.environ.get("GPUPOOL_ACK_FILE", ""), order)
        _answered.add(order)
    return notice


def report_checkpoint(step: int, path: str = "") -> None:
    """Tell the pool that the work is saved up to this step, and where. Call it after the save."""
    _put(os.environ.get("GPUPOOL_CHECKPOINT_FILE", ""), json.dumps({"step": step, "path": path}))


def _take_sigterm() -> None:
    """Be woken by SIGTERM instead of ended by it, unless the program has a handler of its own."""
    global _listening
    if _listening:
        return
    _listening = True
    with contextlib.suppress(ValueError):  # only the main thread may set a handler
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, lambda *_: None)


def _put(name: str, text: str) -> None:
    """Replace the file in one step: nobody ever reads half of it. Without the pool: nothing."""
    if not name:
        return
    target = Path(name)
    handle, beside = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(beside).replace(target)
