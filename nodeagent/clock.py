"""The agent's one seam for time: wall clock, boot-time clock, the machine's boot id."""

import time
from pathlib import Path


def wall() -> float:
    """Seconds since 1970, as the node believes; only ever shown, never subtracted."""
    return time.time()


def boottime() -> float:
    """Seconds since boot, sleep included; steps of the wall clock do not touch it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def boot_id() -> str:
    """Names this boot of the machine: another value means that every process of before is dead."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
