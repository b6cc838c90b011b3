"""The machine round real cards: what it has."""

import os
import platform
from pathlib import Path

import psutil

from nodeagent.protocol.inventory import Host

MIB = 1024 * 1024


def host(work_disk: Path) -> Host:
    """Processors, memory and disk of this machine; what it keeps apart, the enclosure tries."""
    return Host(
        cpu_milli=(os.cpu_count() or 1) * 1000,
        memory_mib=psutil.virtual_memory().total // MIB,
        disk_mib=psutil.disk_usage(str(work_disk)).total // MIB,
        arch=platform.machine(),
        kernel=platform.release(),
    )
