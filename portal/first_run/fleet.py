"""Which machines there are: from a fleet file, or the one this runs on."""

import json
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from pool.errors import Invalid
from pool.services.nodes import node_name


class BadFleet(Exception):
    """The fleet file cannot be used; the text says where and why."""


@dataclass(frozen=True)
class Machine:
    """One node to come, with how many cards of each label it will bring; empty when unknown."""

    name: str
    labels: Counter[str] = field(default_factory=Counter)


def fleet_text() -> str:
    """The default fleet, as people may edit it."""
    return (files("nodeagent.facts") / "default_fleet.yaml").read_text(encoding="utf-8")


def fleet_read(path: Path) -> tuple[Machine, ...]:
    """The machines of a fleet file.

    Raises:
        BadFleet: unreadable, not a list of named nodes, a name twice, or an unknown card model.
    """
    try:
        told = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as failure:
        raise BadFleet(f"{path}: {' '.join(str(failure).split())}") from failure
    nodes = told.get("nodes") if isinstance(told, dict) else None
    if not isinstance(nodes, list) or not all(isinstance(one, dict) for one in nodes):
        raise BadFleet(f"{path}: a list of nodes is expected under 'nodes'")
    known = _known_models()
    machines = tuple(_machine(path, one, known) for one in nodes)
    folded = Counter(one.name.casefold() for one in machines)
    twice = [name for name, times in folded.items() if times > 1]
    if twice:
        raise BadFleet(f"{path}: two nodes are called {twice[0]}")
    return machines


def _machine(path: Path, told: dict[str, Any], known: dict[str, str]) -> Machine:
    try:
        name = node_name(str(told.get("name", "")))
    except Invalid as refused:
        raise BadFleet(f"{path}: {refused}") from refused
    labels: Counter[str] = Counter()
    for cards in told.get("cards") or []:
        model = str(cards.get("model", "")) if isinstance(cards, dict) else str(cards)
        label = known.get(model.casefold())
        if label is None:
            raise BadFleet(f"{path}: node {name}: there are no facts about card model {model!r}")
        labels[label] += _count(path, name, cards)
    return Machine(name, labels)


def _count(path: Path, name: str, cards: dict[str, Any]) -> int:
    count = cards.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise BadFleet(f"{path}: node {name}: a count of cards is a whole number from 1")
    return count


def _known_models() -> dict[str, str]:
    """From every spelling of a model, casefolded, to the label of its cards."""
    told = json.loads((files("nodeagent.facts") / "cards.json").read_text(encoding="utf-8"))
    labels = {row["model"].casefold(): row["label"] for row in told["cards"]}
    return labels | {row["label"].casefold(): row["label"] for row in told["cards"]}
