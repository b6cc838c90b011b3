"""Published facts: what a card's own driver does not tell is taken from them, by its name."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec.structs import replace

from nodeagent.protocol.inventory import Card

SIZES_GB = (
    *(2, 3, 4, 6, 8, 10, 11, 12, 16, 20, 22, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141),
    *(144, 180, 186, 192, 256, 269, 278, 288),
)
"""Sizes that cards are sold with: the usable memory is always a little less."""

SLACK_GB = 0.05


class UnknownModel(ValueError):
    """The facts do not know a card of this name."""


@cache
def read(name: str) -> dict[str, Any]:
    """One facts file."""
    loaded: dict[str, Any] = json.loads(files("nodeagent.facts").joinpath(name).read_bytes())
    return loaded


def published(model: str) -> dict[str, Any]:
    """The published row of a model, by its full name or its label.

    Raises:
        UnknownModel
    """
    rows: list[dict[str, Any]] = read("cards.json")["cards"]
    for row in rows:
        if model.casefold() in (row["model"].casefold(), row["label"].casefold()):
            return row
    known = ", ".join(row["label"] for row in rows)
    raise UnknownModel(f"no facts about card model {model!r}; known are {known}")


def nominal_gb(memory_mib: int) -> int:
    """The size by which a card of so much usable memory is sold."""
    size = memory_mib / 1024
    return next((gb for gb in SIZES_GB if gb >= size - SLACK_GB), round(size))


def enriched(card: Card) -> Card:
    """The card with what is published of its model; what its driver says always wins."""
    try:
        row = published(card.model)
    except UnknownModel:
        return card
    silent = {
        name: row[name]
        for name in ("architecture", "compute_capability", "cores", "tdp_w", "nvenc", "nvdec")
        if getattr(card, name) is None
    }
    return replace(
        card,
        label=row["label"],
        nominal_gb=row["nominal_gb"],
        precisions=card.precisions or tuple(row["precisions"]),
        strength=row["strength"],
        memory_gb_per_s=row["memory_gb_per_s"],
        graphics=row["graphics"],
        **silent,
    )
