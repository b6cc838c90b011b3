"""Pure: how far apart the end of a month may lie, from how unlike its days were."""

import math
from collections.abc import Sequence

LEAST_DAYS = 3
"""Fewer whole days say nothing of how unlike they are."""

EIGHT_OF_TEN = 1.2816
"""So many standard deviations to either side hold eight of ten sums."""


def band(days: Sequence[int], *, sum_micro: int, left_days: float) -> tuple[int, int] | None:
    """Between what the month will come to, eight times out of ten; None from too few days.

    `days` are the amounts of whole days so far, `left_days` those to come; amounts in 10⁻⁶ of the
    currency. Days are taken to be as unlike each other as so far, and independent. What is spent
    stays spent, unless days with credits show that it does not.
    """
    count, left = len(days), max(0.0, left_days)
    if count < LEAST_DAYS:
        return None
    mean = math.fsum(days) / count
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in days) / (count - 1))
    middle = sum_micro + mean * left
    wide = EIGHT_OF_TEN * spread * math.sqrt(left * (1 + left / count))
    low, high = middle - wide, middle + wide
    if min(days) >= 0:
        low = max(low, sum_micro)
    return round(low), round(high)
