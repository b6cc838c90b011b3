"""Texts, layouts and sorts of card as small numbers, shared by all copies of a board."""

from dataclasses import dataclass, field
from typing import Any

from pool.scheduling.stock import Layout

NO_DOMAIN = -1
"""The number of the domain of a card that names none."""

NO_LAYOUT = -1
"""The number of the layout of a card that cannot be cut."""


@dataclass(frozen=True, slots=True)
class Sort:
    """What cards have in common that the planner judges alike, whatever their node and sizes.

    `whole` and `gives` say whether such a card can be given whole, and whether it can give at all;
    `coming` whether a soft share is on its way to it which nobody holds.
    """

    kind: int
    layout: int
    entry: int
    soft: int
    untouched: bool
    whole: bool
    coming: bool
    gives: bool


@dataclass(slots=True)
class Words:
    """Texts as small numbers and the row of each slice's card: shared by all copies of a board.

    `memo` keeps what depends on nothing that a round changes.
    """

    codes: dict[object, int] = field(default_factory=dict)
    where: dict[int, int] = field(default_factory=dict)
    memo: dict[object, Any] = field(default_factory=dict)
    layouts: list[Layout] = field(default_factory=list)
    sorts: list[Sort] = field(default_factory=list)
    ticks: int = 0
    made: int = 0

    def tick(self) -> int:
        """A number never given before: marks a state that no copy has had."""
        self.ticks += 1
        return self.ticks

    def fresh(self) -> int:
        """An id for a slice that is only planned: below zero, never given before."""
        self.made -= 1
        return self.made

    def code(self, word: object) -> int:
        return self.codes.setdefault(word, len(self.codes))

    def domain(self, node: int, name: str) -> int:
        """The number of an NVLink domain of a node."""
        return self.code(("domain", node, name)) if name else NO_DOMAIN

    def layout(self, layout: Layout | None) -> int:
        """The number of a MIG layout; alike layouts share it whatever their slices' ids."""
        if layout is None:
            return NO_LAYOUT
        key = ("layout", layout)
        if key not in self.codes:
            self.codes[key] = len(self.layouts)
            self.layouts.append(layout)
        return self.codes[key]

    def sort(self, sort: Sort) -> int:
        """The number of a sort of card."""
        if sort not in self.codes:
            self.codes[sort] = len(self.sorts)
            self.sorts.append(sort)
        return self.codes[sort]
