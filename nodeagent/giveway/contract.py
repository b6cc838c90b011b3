"""The words between a job and its node: variables, files, and what a job may choose."""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

FOLDER = "giveway"
"""In the job's own folder, beside its files."""

NOTICE, ACK, CHECKPOINT = "notice.json", "ack", "checkpoint.json"

SIGNAL_CHOICE = "GIVEWAY_SIGNAL"
HOOK_CHOICE = "GIVEWAY_HOOK"

SIGNALS = {
    "TERM": signal.SIGTERM,
    "INT": signal.SIGINT,
    "USR1": signal.SIGUSR1,
    "USR2": signal.SIGUSR2,
    "HUP": signal.SIGHUP,
}
SILENT = "NONE"
"""The choice of a job that reads the notice file and wants no signal."""

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MOST_PATH = 400
MOST_ADDRESS = 500


@dataclass(frozen=True)
class Choice:
    """How a job wants to hear: the name of a signal or NONE, and an address to be called or ""."""

    signal: str = "TERM"
    hook: str = ""


@dataclass(frozen=True)
class Mark:
    """One checkpoint as the job tells it. The path is on the job's own storage."""

    step: int
    path: str


def choice_of(env: Mapping[str, str]) -> Choice:
    """What the job's own variables choose; a word that is none is SIGTERM and no hook."""
    name = env.get(SIGNAL_CHOICE, "TERM").upper().removeprefix("SIG")
    hook = env.get(HOOK_CHOICE, "")
    return Choice(
        signal=name if name in SIGNALS or name == SILENT else "TERM",
        hook=hook if own_host(hook) else "",
    )


def own_host(hook: str) -> bool:
    """Only the node itself is called, over plain http, without a name and a password.

    No address has over MOST_ADDRESS letters, or other than printable ASCII: no client dials those.
    """
    if len(hook) > MOST_ADDRESS or not (hook.isascii() and hook.isprintable()):
        return False
    try:
        parts = urlsplit(hook)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme == "http" and parts.hostname in LOOPBACK and "@" not in parts.netloc


def variables(home: Path) -> dict[str, str]:
    """Where a job finds the notice, acknowledges it, and tells of checkpoints."""
    folder = home / FOLDER
    return {
        "GPUPOOL_NOTICE_FILE": str(folder / NOTICE),
        "GPUPOOL_ACK_FILE": str(folder / ACK),
        "GPUPOOL_CHECKPOINT_FILE": str(folder / CHECKPOINT),
    }


def mark_of(body: bytes) -> Mark | None:
    """A checkpoint file's text; None when it is torn or says no step (a whole number from 0)."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):  # the latter: brackets nested by the thousand
        return None
    if not isinstance(said, dict):
        return None
    step, path = said.get("step"), said.get("path", "")
    if type(step) is not int or not 0 <= step < 1 << 62 or not isinstance(path, str):
        return None
    clean = path.replace("\x00", "").encode("utf-8", "replace").decode("utf-8", "replace")
    return Mark(step, clean[:MOST_PATH])
