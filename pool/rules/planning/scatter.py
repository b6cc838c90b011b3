"""PURE: memory against compute of what is held, and the change that each corner calls for."""

from dataclasses import dataclass
from enum import StrEnum

FULL_MILLI, LOW_MILLI = 800, 500
"""From FULL on something is well used; up to LOW it is not."""


class Corner(StrEnum):
    """Where a dot lies."""

    RECUT = "recut"
    """Memory full, compute idle: a slice with as much memory and less compute, or a shared card."""

    FEWER = "fewer"
    """Compute full, memory idle: fewer at a time on one card, or more compute with less memory."""

    SMALLER = "smaller"
    """Both low: a smaller piece does."""

    WELL = "well"
    """Both well used, or in between: nothing to change."""

    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Dot:
    """One kind of work: mean memory of what it held and mean compute, in thousandths.

    `card_hours` is its weight, in hours of whole cards; `key` leads to it.
    """

    key: str
    name: str
    memory_milli: int | None
    compute_milli: int | None
    card_hours: float

    @property
    def corner(self) -> Corner:
        """What it calls for."""
        return corner_of(self.memory_milli, self.compute_milli)


def corner_of(memory_milli: int | None, compute_milli: int | None) -> Corner:
    """The corner of a memory and a compute share, both in thousandths of what was held."""
    if memory_milli is None or compute_milli is None:
        return Corner.UNKNOWN
    if compute_milli <= LOW_MILLI:
        if memory_milli >= FULL_MILLI:
            return Corner.RECUT
        return Corner.SMALLER if memory_milli <= LOW_MILLI else Corner.WELL
    if compute_milli >= FULL_MILLI and memory_milli <= LOW_MILLI:
        return Corner.FEWER
    return Corner.WELL
