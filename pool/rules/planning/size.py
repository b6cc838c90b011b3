"""PURE: what a pool of so many cards is worth having, by its size (requirement C5): a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    """How much of the product a pool of a size needs."""

    PLAIN = "plain"
    SLICES = "slices"
    RULES = "rules"
    DOMAINS = "domains"


LADDER: tuple[tuple[Way, int | None], ...] = (
    (Way.PLAIN, 8),
    (Way.SLICES, 50),
    (Way.RULES, 500),
    (Way.DOMAINS, None),
)
"""Each way, and up to how many cards it is enough; the last has no end. Up to 8 a plain queue; up
to 50 slices; up to 500 queues, priorities, quotas and bills; then topology and failure domains."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The way that suits so many cards, and the number from which on the next one does."""

    cards: int
    way: Way
    next_at: int | None


def size_advice(cards: int, ladder: Sequence[tuple[Way, int | None]] = LADDER) -> Advice:
    """The first way of the table that is enough for so many cards."""
    for way, most in ladder:
        if most is None or cards <= most:
            return Advice(cards, way, None if most is None else most + 1)
    return Advice(cards, ladder[-1][0], None)
