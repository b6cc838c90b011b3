"""PURE: what a pool of so many cards is worth having, by its size (requirement C5)."""

from dataclasses import dataclass
from enum import StrEnum

PLAIN_CARDS, SLICED_CARDS, RULED_CARDS = 8, 50, 500
"""Up to so many cards each way of working is enough."""


class Way(StrEnum):
    """How much of the product a pool of a size needs."""

    PLAIN = "plain"
    SLICES = "slices"
    RULES = "rules"
    DOMAINS = "domains"


@dataclass(frozen=True, slots=True)
class Advice:
    """The way that suits so many cards, and the number from which on the next one does."""

    cards: int
    way: Way
    next_at: int | None


def size_advice(cards: int) -> Advice:
    """Up to 8 a plain queue; up to 50 slices; up to 500 queues, priorities, quotas and bills; then
    topology and failure domains.
    """
    if cards <= PLAIN_CARDS:
        return Advice(cards, Way.PLAIN, PLAIN_CARDS + 1)
    if cards <= SLICED_CARDS:
        return Advice(cards, Way.SLICES, SLICED_CARDS + 1)
    if cards <= RULED_CARDS:
        return Advice(cards, Way.RULES, RULED_CARDS + 1)
    return Advice(cards, Way.DOMAINS, None)
