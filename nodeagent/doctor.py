"""`python -m nodeagent doctor`: what this node can and cannot do, one line each."""

import os
from dataclasses import dataclass

from nodeagent import clock
from nodeagent.config import Config
from nodeagent.drivers import choose
from nodeagent.runners.accounts import blocked_at


@dataclass(frozen=True)
class Finding:
    """One thing that was tried; `ok` False means that the agent will not work well."""

    what: str
    ok: bool
    words: str


async def examine(config: Config) -> list[Finding]:
    """Try what the agent relies on; changes nothing but makes its two folders."""
    findings = [_folders(config), _pidfd()]
    driver = choose.driver(None, config.state_dir, None)
    await driver.open()
    cards = await driver.inventory()
    words = ", ".join(card.label for card in cards) or "none found by NVML"
    findings.append(Finding("cards", bool(cards) or config.simulated, words))
    host = await driver.host()
    words = f"{host.cpu_milli // 1000} processors, {host.memory_mib} MiB memory, {host.arch}"
    findings.append(Finding("host", True, words))
    as_root = os.geteuid() == 0
    words = "own account per job" if as_root else "not root: all jobs share this account"
    findings.append(Finding("identity", as_root or config.simulated, words))
    findings.append(Finding("boot", bool(clock.boot_id()), clock.boot_id()))
    return findings


def _folders(config: Config) -> Finding:
    try:
        for folder in (config.state_dir, config.work_dir):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        return Finding("folders", False, str(failure))
    blocked = blocked_at(config.work_dir) if os.geteuid() == 0 else None
    if blocked is not None:
        return Finding("folders", False, f"job accounts cannot pass {blocked}")
    return Finding("folders", True, f"{config.state_dir}, {config.work_dir}")


def _pidfd() -> Finding:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (OSError, AttributeError) as failure:
        return Finding("kernel", False, f"no pidfd: {failure}")
    return Finding("kernel", True, os.uname().release)
