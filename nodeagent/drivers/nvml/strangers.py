"""Whose are the processes on a card: below one of the pool's shims, or in one of its containers."""

import os
from collections.abc import Container
from pathlib import Path

from nodeagent import processes
from nodeagent.drivers.nvml.owners import OWNERS
from nodeagent.runners import inside
from nodeagent.runners.adoption import CONTAINER_LABEL, SHIM_LABEL


def strangers(pids: list[int], hosts: Container[int] = frozenset()) -> tuple[str, ...]:
    """Name, number and owner of those that no shim of this account started, nor an engine for one,
    nor one of the `hosts` (a daemon of this agent that serves its jobs).

    A number that this machine does not show (another process namespace) says nothing of its owner,
    so it is nobody's fault.
    """
    if not pids:
        return ()
    shims = dict(processes.labelled(SHIM_LABEL, {os.getuid()}))
    files = [env[CONTAINER_LABEL] for env in shims.values() if env.get(CONTAINER_LABEL)]
    ours = inside.numbers(map(Path, files))
    there = [pid for pid in sorted(pids) if processes.look(pid) is not None]
    alien = [pid for pid in there if not (_ours(pid, shims, ours) or _below(pid, hosts))]
    return tuple(f"{processes.name(pid)} ({pid}){_of(pid)}" for pid in alien)


def _ours(pid: int, shims: Container[int], containers: frozenset[str]) -> bool:
    return _below(pid, shims) or bool(inside.container_of(pid, containers))


def _below(pid: int, shims: Container[int]) -> bool:
    while pid > 0:
        if pid in shims:
            return True
        process = processes.look(pid)
        pid = 0 if process is None else process.parent
    return False


def _of(pid: int) -> str:
    """Whose it is, by the name of the account where it has one."""
    uid = processes.real_uid(pid)
    if uid is None:
        return ""
    return f" of {OWNERS.of(uid)}"
