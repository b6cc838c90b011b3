"""Where the processor's time of a running stack goes, part by part."""

from collections import defaultdict

import psutil

PARTS = (
    ("gateway", "gateway"),
    ("uvicorn", "web"),
    ("postgres", "PostgreSQL"),
    ("valkey", "Valkey"),
    ("celery -A portal beat", "beat"),
    ("rounds", "rounds"),
    ("celery", "workers"),
    ("nodeagent", "agents"),
)
"""Words of a command line, the first that fits, and the part that they mean."""


def spent(process: psutil.Process) -> dict[str, float]:
    """Processor seconds of a process and all below it, as far as they live, by part."""
    found: dict[str, float] = defaultdict(float)
    for one in [process, *process.children(recursive=True)]:
        try:
            line, times = " ".join(one.cmdline()), one.cpu_times()
        except psutil.Error:
            continue
        part = next((name for words, name in PARTS if words in line), "the rest")
        found[part] += times.user + times.system
    return dict(found)


def between(before: dict[str, float], after: dict[str, float], seconds: float) -> dict[str, float]:
    """Cores that each part has kept busy."""
    return {part: (used - before.get(part, 0.0)) / seconds for part, used in after.items()}


def said(cores: dict[str, float]) -> str:
    """The same in words, the busiest first; what is hardly there is left out."""
    rows = sorted(cores.items(), key=lambda row: -row[1])
    return ", ".join(f"{part} {used:.2f}" for part, used in rows if used >= 0.005)
