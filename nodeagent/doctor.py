"""`python -m nodeagent doctor`: what this node has, what it can enforce, what would be carved.

It only looks: no card is changed, and nothing is written but the two folders of the agent. Exit
code 0: nothing hinders the agent; 1: something does.
"""

import asyncio
import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nodeagent import clock
from nodeagent.config import Config
from nodeagent.drivers import choose
from nodeagent.drivers.base import Driver
from nodeagent.enclosure import enclosure
from nodeagent.protocol.inventory import Card, Geometry
from nodeagent.protocol.report import CardHealth
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import Mode
from nodeagent.runners import container
from nodeagent.runners.accounts import blocked_at

SHOWN = (
    *("util_mean", "sm_mean", "occupancy_mean", "bandwidth_mean", "memory_mib_mean"),
    *("pcie_mib_s", "nvlink_mib_s", "power_w_mean", "temperature_c_max"),
    *("ecc_corrected", "ecc_uncorrected", "throttle", "encoder_mean"),
    *("pcie_width", "pcie_generation"),
)
"""Meters that are asked once, to say which of them this card tells."""


@dataclass(frozen=True)
class Finding:
    """One thing that was tried; `ok` False means that the agent will not work well."""

    what: str
    ok: bool
    words: str
    data: dict[str, Any] = field(default_factory=dict)


async def examine(config: Config) -> list[Finding]:
    """Try what the agent relies on, without changing anything on a card."""
    findings = [_folders(config), _pidfd()]
    with tempfile.TemporaryDirectory(prefix="gpupool-doctor-") as empty:
        wishes = choose.Wishes(True, config.hami_core, config.exporter)
        driver = choose.driver(None, Path(empty), None, wishes)
        await driver.open()
        findings += await _cards(driver, config)
        findings += await _walls(driver, config)
        findings.append(_tried(driver))
    findings.append(await asyncio.to_thread(_engine))
    findings.append(Finding("boot", bool(clock.boot_id()), clock.boot_id()))
    return findings


def report(findings: list[Finding], as_json: bool) -> str:
    """One line each, or one JSON document."""
    if as_json:
        ok = all(one.ok for one in findings)
        rows = [asdict(one) for one in findings]
        return json.dumps({"ok": ok, "findings": rows}, ensure_ascii=False) + "\n"
    lines = [f"{'ok ' if one.ok else 'BAD'} {one.what}: {one.words}" for one in findings]
    return "\n".join(lines) + "\n"


async def _cards(driver: Driver, config: Config) -> list[Finding]:
    cards = await driver.inventory()
    if not cards:
        why = "no NVIDIA, AMD or Ascend card answers; jobs without a card can run"
        return [Finding("cards", config.simulated, why)]
    health = {one.uuid: one for one in await driver.health()}
    await driver.sample(clock.wall(), ())
    rows = {one.card: one for one in await driver.sample(clock.wall(), ())}
    found = [Finding("cards", True, f"{len(cards)} by {driver.name}: {_models(cards)}")]
    modes = await driver.modes()
    for card in cards:
        one = health.get(card.uuid)
        found.append(_card(card, one, modes.get(card.uuid), rows.get(card.uuid)))
        found.append(_carving(card, config))
    return found


def _models(cards: tuple[Card, ...]) -> str:
    labels = [card.label for card in cards]
    return ", ".join(f"{labels.count(label)} x {label}" for label in dict.fromkeys(labels))


def _card(card: Card, health: CardHealth | None, mode: Mode | None, row: Reading | None) -> Finding:
    word = "not answering" if health is None else health.health
    reason = "" if health is None or not health.reason else f" ({health.reason})"
    told = [name for name in SHOWN if row is not None and getattr(row, name) is not None]
    lacks = [name for name in SHOWN if name not in told]
    words = (
        f"{card.uuid} {card.memory_mib} MiB, driver {card.driver or 'unknown'}, "
        f"mode {mode or 'unknown'}, {word}{reason}; does not tell {', '.join(lacks) or 'nothing'}"
    )
    data = {
        "uuid": card.uuid,
        "model": card.model,
        "mode": mode,
        "health": word,
        "measured": told,
        "unknown": lacks,
        "domain": card.domain,
        "numa": card.numa,
        "errors": [] if health is None else [one.words for one in health.errors],
    }
    return Finding(f"card {card.index} {card.label}", word in ("ok", "partial"), words, data)


def _carving(card: Card, config: Config) -> Finding:
    """What the portal could make of the card, and who keeps each slice to its share."""
    parts = []
    for ability in card.abilities:
        cut = next((one for one in card.geometries if one.mode == ability.mode), None)
        kept = f"memory by {ability.memory}, compute by {ability.compute}"
        licence = f", licence {ability.licence}" if ability.licence else ""
        parts.append(f"{ability.mode}{_profiles(cut)} ({kept}{licence})")
    cutting = "would be carved" if config.carve else "could be carved, were --carve given"
    data = {
        "uuid": card.uuid,
        "carve": config.carve,
        "modes": {str(one.mode): [p.name for p in one.profiles] for one in card.geometries},
        "abilities": [
            {"mode": one.mode, "memory": one.memory, "compute": one.compute, "note": one.note}
            for one in card.abilities
        ],
        "reset_to_enter": any(one.reset_to_enter for one in card.geometries),
    }
    return Finding(f"card {card.index} {cutting}", True, "; ".join(parts) or "whole only", data)


def _profiles(cut: Geometry | None) -> str:
    if cut is None or not cut.profiles or cut.mode == Mode.WHOLE:
        return ""
    names = ", ".join(f"{one.max_instances} x {one.name}" for one in cut.profiles)
    reset = "; entered with a reset by an administrator" if cut.reset_to_enter else ""
    return f" [{names}{reset}]"


async def _walls(driver: Driver, config: Config) -> list[Finding]:
    """What keeps two tenants of this node apart, as it was tried just now."""
    tried = enclosure.build("doctor")
    try:
        host = tried.claims(await driver.host())
    finally:
        tried.close()
    words = f"{host.cpu_milli // 1000} processors, {host.memory_mib} MiB memory, {host.arch}"
    kept = "own account per job" if host.identity else "all jobs share this account"
    fence = "a job sees only its own cards" if host.fence else "a job can open other cards"
    data = {"identity": host.identity, "fence": host.fence, "notes": list(host.notes)}
    alone = "" if host.identity and host.fence else ": one trust group at a time on this node"
    return [
        Finding("host", True, words),
        Finding("identity", host.identity or config.simulated, kept + alone, data),
        Finding("fence", True, f"{fence}{alone}; {'; '.join(host.notes)}".rstrip("; ")),
    ]


def _tried(driver: Driver) -> Finding:
    """What nobody has seen yet: whoever reads this may be the first to see it."""
    if driver.name == "simulated":
        return Finding("tried", True, "simulated cards: nothing here says anything of real ones")
    words = (
        "this agent was never run on a real card, only against stand-ins that keep to what is "
        "published (docs/hardware.md): begin on a node that may be lost"
    )
    return Finding("tried", True, words, {"real_hardware": []})


def _engine() -> Finding:
    """Containers are offered only where an engine answers."""
    found = container.engine()
    words = found or "no docker or podman answers: work with an image does not run here"
    return Finding("containers", True, words, {"engine": found})


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
