"""What /proc says of processes: identity that survives pid reuse, trees, time and memory used."""

import contextlib
import os
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    """One line of /proc/<pid>/stat; times in clock ticks, memory in bytes."""

    pid: int
    state: str
    parent: int
    session: int
    cpu_ticks: int
    started_ticks: int
    rss_bytes: int


def look(pid: int) -> Process | None:
    """The process as it is now; None when it is gone. A zombie is still seen, in state Z."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name stands in brackets and may hold anything, so the fields start after the last one.
    fields = text[text.rindex(")") + 2 :].split()
    return Process(
        pid=pid,
        state=fields[0],
        parent=int(fields[1]),
        session=int(fields[3]),
        cpu_ticks=int(fields[11]) + int(fields[12]),
        started_ticks=int(fields[19]),
        rss_bytes=int(fields[21]) * PAGE_BYTES,
    )


def alive(pid: int, started_ticks: int) -> bool:
    """True only for the very process that had this pid when it started then; zombies are dead."""
    seen = look(pid)
    return seen is not None and seen.started_ticks == started_ticks and seen.state not in "ZX"


def pids() -> list[int]:
    """Every process there is."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


def snapshot() -> dict[int, Process]:
    """One look at every process, for questions about trees."""
    looked = (look(pid) for pid in pids())
    return {process.pid: process for process in looked if process is not None}


def below(root: int, seen: dict[int, Process]) -> list[Process]:
    """Descendants of `root`, itself not included."""
    children: dict[int, list[Process]] = {}
    for process in seen.values():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    queue = list(children.get(root, ()))
    while queue:
        process = queue.pop()
        found.append(process)
        queue.extend(children.get(process.pid, ()))
    return found


def labelled(
    name: str, accounts: Collection[int] | None = None
) -> Iterator[tuple[int, dict[str, str]]]:
    """Live processes whose environment holds the label, each with its whole environment.

    With `accounts` only those that they started: reading another's memory, its owner could make
    hang for ever.
    """
    wanted = name.encode() + b"="
    for pid in pids():
        if accounts is not None and real_uid(pid) not in accounts:
            continue
        with contextlib.suppress(OSError):
            body = Path(f"/proc/{pid}/environ").read_bytes()
            if wanted in body:
                pairs = (part.decode(errors="replace").partition("=") for part in body.split(b"\0"))
                yield pid, {key: value for key, _, value in pairs}


def real_uid(pid: int) -> int | None:
    """The account that started the process: what setuid programs cannot borrow. None: gone."""
    with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        line = next(line for line in text.splitlines() if line.startswith("Uid:"))
        return int(line.split()[1])
    return None


def name(pid: int) -> str:
    """The short name of a process as far as it can be printed (15 bytes); ? when it is gone."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace")
        return "".join(letter if letter.isprintable() else "?" for letter in text.rstrip("\n"))
    return "?"


def groups(pid: int) -> str:
    """The control groups of a process, a line each; empty when it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8", errors="replace")
    return ""


def command_line(pid: int) -> list[str]:
    """The arguments of a process; empty when it is gone."""
    with contextlib.suppress(OSError):
        body = Path(f"/proc/{pid}/cmdline").read_bytes()
        return [part.decode(errors="replace") for part in body.split(b"\0")]
    return []


def pause(seconds: float) -> None:
    """Give the kernel a moment to take killed processes away; never called on the event loop."""
    time.sleep(seconds)
