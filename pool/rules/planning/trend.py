"""PURE: how demand grows week by week, and the week in which it passes what is there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_WEEKS = 3
"""A line through fewer points is a guess."""

MOST_WEEKS = 104
"""What would take longer is said to be out of sight."""


@dataclass(frozen=True, slots=True)
class Trend:
    """A straight line through weekly demand, in cards: `level` now, `growth` a week.

    `passes_in` is in how many weeks from now the line passes the capacity: 0 is already, None is
    not in sight. `weeks` is how many points carry it.
    """

    weeks: int
    level: float
    growth: float
    passes_in: int | None


def trend_of(demand: Sequence[float], capacity: float) -> Trend | None:
    """The least-squares line of one figure a week, oldest first; None below three weeks."""
    count = len(demand)
    if count < LEAST_WEEKS:
        return None
    middle = (count - 1) / 2
    mean = math.fsum(demand) / count
    spread = math.fsum((at - middle) ** 2 for at in range(count))
    growth = math.fsum((at - middle) * (one - mean) for at, one in enumerate(demand)) / spread
    level = mean + growth * (count - 1 - middle)
    return Trend(count, max(0.0, level), growth, _passes(level, growth, capacity))


def _passes(level: float, growth: float, capacity: float) -> int | None:
    if level > capacity:
        return 0
    if growth <= 0:
        return None
    weeks = math.floor((capacity - level) / growth) + 1
    return weeks if weeks <= MOST_WEEKS else None
