"""The machine round real cards: what it has, and what it can keep apart."""

import os
import platform
from pathlib import Path

import psutil

from nodeagent.protocol.inventory import Host

MIB = 1024 * 1024


def host(work_disk: Path) -> Host:
    """Processors, memory and disk of this machine; isolation that was not tried is not claimed."""
    as_root = os.geteuid() == 0
    notes = () if as_root else ("jobs share the account of the agent: it does not run as root",)
    return Host(
        cpu_milli=(os.cpu_count() or 1) * 1000,
        memory_mib=psutil.virtual_memory().total // MIB,
        disk_mib=psutil.disk_usage(str(work_disk)).total // MIB,
        arch=platform.machine(),
        kernel=platform.release(),
        identity=as_root,
        fence=False,
        notes=notes,
    )
