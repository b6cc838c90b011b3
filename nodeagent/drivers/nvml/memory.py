"""Memory of a card or of an instance: what is free, and what a holder that is gone has left taken.

The older question counts what the driver keeps for itself as used, so that its answer is taken with
more patience than that of the newer one, which tells it apart.
"""

from typing import Any

import pynvml

from nodeagent import processes
from nodeagent.drivers.nvml.read import GONE, MIB, known

KEPT = 0.02
"""Share of the memory that an idle card may show as used where the driver's own is told apart."""

KEPT_UNTOLD = 0.1
"""The same where it is not."""

LEAST_MIB = 512
DEAD = "ZX"


def free_mib(handle: Any) -> int | None:
    """Memory that nobody uses now, in MiB; None when it does not tell."""
    told = _memory(handle)
    return None if told is None else int(told[0].free) // MIB


def left(handle: Any) -> str:
    """Why the memory is not back, or nothing: what is taken, but for what others that live hold.

    What cannot be told apart (a process that does not tell its memory) is believed to be others'.
    """
    told = _memory(handle)
    others = _others(handle)
    if told is None or others is None:
        return ""
    memory, kept = told
    total, used = int(memory.total) // MIB, int(memory.used) // MIB
    over = used - others
    if over <= max(LEAST_MIB, round(total * kept)):
        return ""
    return f"{over} of {total} MiB are still taken, and no process that lives holds them"


def _memory(handle: Any) -> tuple[Any, float] | None:
    """What the card says, and the share of it that counts as nothing.

    Raises:
        NVMLError: the card is gone.
    """
    newer = known(lambda: pynvml.nvmlDeviceGetMemoryInfo(handle, pynvml.nvmlMemory_v2))
    if newer is not None:
        return newer, KEPT
    try:
        return pynvml.nvmlDeviceGetMemoryInfo(handle), KEPT_UNTOLD
    except pynvml.NVMLError as failure:
        if failure.value in GONE:
            raise
        return None


def _others(handle: Any) -> int | None:
    """MiB that living processes hold, each counted once; None when one of them does not tell.

    A number that this machine does not show belongs to another process namespace, so it lives.
    """
    rows: dict[int, int] = {}
    asks = (
        pynvml.nvmlDeviceGetComputeRunningProcesses,
        pynvml.nvmlDeviceGetGraphicsRunningProcesses,
    )
    for ask in asks:
        for one in known(lambda a=ask: a(handle)) or ():  # type: ignore[misc]
            seen = processes.look(one.pid)
            if seen is not None and seen.state in DEAD:
                continue
            if one.usedGpuMemory is None:
                return None
            rows[one.pid] = max(rows.get(one.pid, 0), int(one.usedGpuMemory) // MIB)
    return sum(rows.values())
