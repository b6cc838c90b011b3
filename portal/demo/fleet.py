"""The demo's machines, as a fleet file of the simulator: mixed models, about eight to a node."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import yaml


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of machine: so many of them in the whole fleet, so many cards in each."""

    prefix: str
    model: str
    nodes: int
    cards: int = 8
    cpus: int = 128
    memory_gib: int = 2048
    nvlinks: int = 0
    arch: str = "x86_64"


KINDS = (
    Kind("a100", "A100-80GB", 12, nvlinks=12),
    Kind("h100", "H100-80GB", 8, nvlinks=18),
    Kind("ada", "RTX-4090", 4),
    Kind("ascend", "Ascend-910B", 2, cpus=192, arch="aarch64"),
    Kind("amd", "MI300X", 2, nvlinks=7),
    Kind("l40s", "L40S", 4),
    Kind("a100s", "A100-40GB", 4, nvlinks=12),
    Kind("h200", "H200", 1, nvlinks=18),
    Kind("t4", "T4", 1, cards=4, cpus=64, memory_gib=512),
)
"""300 cards on 38 machines; a smaller fleet takes them in turn, so that it stays as mixed."""

NODES_A_RACK = 4


def fleet_text(cards: int) -> str:
    """A fleet file with exactly so many cards."""
    made = []
    left = cards
    for number, (kind, index) in enumerate(_in_turn()):
        count = min(kind.cards, left)
        if count <= 0:
            break
        left -= count
        made.append(_node(kind, index, count, number))
    if left:
        raise ValueError(f"the demo has at most {cards - left} cards")
    return yaml.safe_dump({"nodes": made}, sort_keys=False)


def most_cards() -> int:
    """How many cards the whole fleet has."""
    return sum(kind.nodes * kind.cards for kind in KINDS)


def _in_turn() -> Iterator[tuple[Kind, int]]:
    """Every machine, one of each kind after the other as long as there are some."""
    given: Counter[str] = Counter()
    for _turn in range(max(kind.nodes for kind in KINDS)):
        for kind in KINDS:
            if given[kind.prefix] < kind.nodes:
                given[kind.prefix] += 1
                yield kind, given[kind.prefix]


def _node(kind: Kind, index: int, count: int, number: int) -> dict[str, object]:
    cards: dict[str, object] = {"model": kind.model, "count": count}
    if kind.nvlinks:
        cards |= {"nvlink": True, "nvlinks": kind.nvlinks}
    return {
        "name": f"demo-{kind.prefix}-{index:02d}",
        "cpus": kind.cpus,
        "memory_gib": kind.memory_gib,
        "disk_gib": 16_000,
        "arch": kind.arch,
        "labels": {"rack": f"r{number // NODES_A_RACK + 1:02d}", "network": f"net-{kind.prefix}"},
        "cards": [cards],
    }
