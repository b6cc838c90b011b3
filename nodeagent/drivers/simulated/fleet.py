"""The fleet file: which simulated nodes there are and what each one claims."""

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from msgspec.structs import replace

from nodeagent.drivers.simulated import cards
from nodeagent.protocol.inventory import Card

NODE_KEYS = {
    "name",
    "cpus",
    "memory_gib",
    "disk_gib",
    "labels",
    "cards",
    "identity",
    "fence",
    "arch",
}
CARD_KEYS = {"model", "count", "nvlink", "nvlinks", "display"}


class BadFleet(ValueError):
    """The fleet file cannot be used; the text says where and why."""


@dataclass(frozen=True)
class SimulatedNode:
    """One node of the fleet file. Memory and disk in GiB."""

    name: str
    cpus: int
    memory_gib: int
    disk_gib: int
    cards: tuple[Card, ...]
    labels: dict[str, str] = field(default_factory=dict)
    identity: bool = True
    fence: bool = True
    arch: str = "x86_64"


def read_fleet(path: Path | None) -> tuple[SimulatedNode, ...]:
    """Every node of the file, or of the default fleet when no file is given.

    Raises:
        BadFleet: unreadable, an unknown key, a missing or doubled name, an unknown card model.
    """
    source = files("nodeagent.facts").joinpath("default_fleet.yaml") if path is None else path
    try:
        loaded = yaml.safe_load(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as failure:
        raise BadFleet(f"fleet file {path}: {failure}") from failure
    if not isinstance(loaded, dict) or not isinstance(loaded.get("nodes"), list):
        raise BadFleet(f"fleet file {path}: expected a list under 'nodes'")
    nodes = tuple(_node(entry) for entry in loaded["nodes"])
    names = [node.name.casefold() for node in nodes]
    if len(set(names)) != len(names):
        raise BadFleet(f"fleet file {path}: two nodes share a name")
    return nodes


def find_node(nodes: tuple[SimulatedNode, ...], name: str) -> SimulatedNode:
    """The node of that name.

    Raises:
        BadFleet
    """
    for node in nodes:
        if node.name == name:
            return node
    raise BadFleet(f"no node {name!r} in the fleet; it has {', '.join(n.name for n in nodes)}")


def _node(entry: Any) -> SimulatedNode:
    where = f"node {entry.get('name')!r}" if isinstance(entry, dict) else "a node"
    _only_known(entry, NODE_KEYS, where)
    try:
        name = entry["name"]
        return SimulatedNode(
            name=name,
            cpus=int(entry.get("cpus", 32)),
            memory_gib=int(entry.get("memory_gib", 256)),
            disk_gib=int(entry.get("disk_gib", 1000)),
            cards=_cards(name, entry.get("cards", [])),
            labels={str(k): str(v) for k, v in (entry.get("labels") or {}).items()},
            identity=bool(entry.get("identity", True)),
            fence=bool(entry.get("fence", True)),
            arch=str(entry.get("arch", "x86_64")),
        )
    except (KeyError, TypeError, ValueError) as failure:
        raise BadFleet(f"fleet file, {where}: {failure}") from failure


def _cards(node: str, entries: list[Any]) -> tuple[Card, ...]:
    """Cards numbered through the node; an entry with `nvlink` is one domain of its own."""
    made: list[Card] = []
    nvlinks = 0
    for number, entry in enumerate(entries):
        _only_known(entry, CARD_KEYS, f"cards of node {node!r}")
        domain = f"{node}/nvlink{number}" if entry.get("nvlink") else None
        nvlinks = max(nvlinks, int(entry.get("nvlinks", 12 if domain else 0)))
        for _ in range(int(entry.get("count", 1))):
            card = cards.card(node, len(made), str(entry["model"]), domain)
            made.append(replace(card, display=bool(entry.get("display", False))))
    return cards.linked(tuple(made), nvlinks)


def _only_known(entry: Any, keys: set[str], where: str) -> None:
    if not isinstance(entry, dict):
        raise BadFleet(f"fleet file, {where}: expected a mapping")
    unknown = set(entry) - keys
    if unknown:
        raise BadFleet(f"fleet file, {where}: unknown keys {', '.join(sorted(unknown))}")
