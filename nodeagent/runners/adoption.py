"""Finding again what earlier agents started: by folder, by label, by session."""

import contextlib
import os
from pathlib import Path

from nodeagent import clock, processes, records
from nodeagent.records import Record
from nodeagent.runners import inside
from nodeagent.runners.environment import MEMORY_FILE

SHIM_LABEL = "GPUPOOL_SHIM"
ATTEMPT_LABEL = "GPUPOOL_ATTEMPT"
RANK_LABEL = "GPUPOOL_RANK"
PORT_LABEL = "GPUPOOL_MASTER_PORT"
CONTAINER_LABEL = "GPUPOOL_CONTAINER"


def labels(record: Record, node: str) -> dict[str, str]:
    """The shim's whole environment: enough to know it again when every file is lost."""
    return {
        SHIM_LABEL: node,
        ATTEMPT_LABEL: record.attempt,
        "GPUPOOL_WORKLOAD": record.workload,
        "GPUPOOL_SLICES": ",".join(record.slices),
        RANK_LABEL: str(record.rank),
        PORT_LABEL: str(record.port),
        CONTAINER_LABEL: str(record.folder / inside.FILE) if record.container else "",
        "GPUPOOL_ACCEPTED": repr(record.accepted),
        "GPUPOOL_REQUEUE": "1" if record.requeue else "",
    }


def find(attempts: Path, node: str) -> list[Record]:
    """Every attempt of this node that has a folder or a living shim."""
    found = {folder.name: records.load(folder) for folder in attempts.iterdir() if folder.is_dir()}
    # A job of another account may write any label: only our own account starts shims.
    for pid, environment in processes.labelled(SHIM_LABEL, {os.getuid()}):
        if environment.get(SHIM_LABEL) != node:
            continue
        name = records.folder_name(
            environment.get(ATTEMPT_LABEL, ""), _number(environment, RANK_LABEL)
        )
        known = found.get(name)
        whole = known is not None and known.workload and known.claimed
        if not whole or known is None or known.started_at is None:
            found[name] = _rebuild(attempts / name, pid, environment)
    return list(found.values())


def _rebuild(folder: Path, pid: int, environment: dict[str, str]) -> Record:
    """From the shim's own labels; what was on disk and is whole still counts."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    record = records.load(folder)
    record.attempt = environment[ATTEMPT_LABEL]
    record.workload = environment.get("GPUPOOL_WORKLOAD", "")
    record.slices = tuple(uid for uid in environment.get("GPUPOOL_SLICES", "").split(",") if uid)
    record.rank = _number(environment, RANK_LABEL)
    record.port = _number(environment, PORT_LABEL)
    record.requeue = environment.get("GPUPOOL_REQUEUE") == "1"
    record.container = bool(environment.get(CONTAINER_LABEL))
    record.boot = clock.boot_id()
    with contextlib.suppress(ValueError):
        record.accepted = float(environment.get("GPUPOOL_ACCEPTED", ""))
    shim = processes.look(pid)
    if shim is not None:
        record.claimed, record.shim_pid, record.shim_ticks = True, pid, shim.started_ticks
        child = next(iter(processes.below(pid, processes.snapshot())), None)
        if child is not None and record.started_at is None:
            record.pid, record.pid_ticks = child.pid, child.started_ticks
            age = clock.boottime() - child.started_ticks / processes.TICKS_PER_S
            record.started_at = clock.wall() - age
    records.accept(record)
    return record


def _number(environment: dict[str, str], label: str) -> int:
    """A label of ours that is a number; 0 on a shim that had none."""
    text = environment.get(label, "")
    return int(text) if text.isdigit() else 0


def leftovers(record: Record, node: str, home: Path, shims_too: bool) -> list[int]:
    """Processes of an attempt that should be gone; its shim only when it is to go as well.

    Another agent of this machine may know an attempt of the same name: `node` is written on our
    shims, and a path below `home` on our jobs.
    """
    left: set[int] = set()
    for pid, environment in processes.labelled(ATTEMPT_LABEL, _accounts(home)):
        if environment.get(ATTEMPT_LABEL) != record.attempt:
            continue
        shim = environment.get(SHIM_LABEL)
        file = Path(environment.get(MEMORY_FILE, home / "tmp"))
        if shims_too and shim == node or shim is None and file.is_relative_to(home):
            left.add(pid)
    seen = processes.snapshot()
    if record.pid is not None and _still_its_session(record, seen):
        left |= {p.pid for p in seen.values() if p.session == record.pid}
    if record.shim_alive():
        left |= {p.pid for p in processes.below(record.shim_pid, seen)}
    return [pid for pid in left if pid in seen and seen[pid].state not in "ZX"]


def _accounts(home: Path) -> set[int]:
    """Who can have started processes of the attempt: the agent, and whose folder it works in."""
    known = {os.getuid()}
    with contextlib.suppress(OSError):
        known.add((home / "files").stat(follow_symlinks=False).st_uid)
    return known


def _still_its_session(record: Record, seen: dict[int, processes.Process]) -> bool:
    """A session's number stays taken while a member lives; a new owner of it is a stranger."""
    leader = seen.get(record.pid or 0)
    same_boot = record.boot in ("", clock.boot_id())
    return same_boot and (leader is None or leader.started_ticks == record.pid_ticks)
