"""Pure: how long measured values are kept, and in what steps a span of time is shown."""

from collections.abc import Mapping
from dataclasses import dataclass

LARGE_POOL = 500
"""Above so many cards less is kept, unless somebody says how much."""

RAW_S, MINUTE_S, HOUR_S = 10, 60, 3600


@dataclass(frozen=True, slots=True)
class Kept:
    """Whole days that readings and their condensed forms are kept."""

    raw_days: int
    minute_days: int
    hour_days: int


def kept(*, cards: int, numbers: Mapping[str, int | bool]) -> Kept:
    """What the numbers in force say; 0 leaves it to the size of the pool."""
    small = cards <= LARGE_POOL
    return Kept(
        raw_days=int(numbers["raw_days"]) or (7 if small else 1),
        minute_days=int(numbers["minute_days"]) or (60 if small else 14),
        hour_days=int(numbers["hour_days"]),
    )


def step_for(*, length_s: float, age_s: float, keeps: Kept) -> int:
    """The finest step that is still kept from the span's start on and draws under ~1,500 points.

    `age_s` is how long ago the span begins.
    """
    day = 86_400
    if length_s <= 4 * HOUR_S and age_s < keeps.raw_days * day:
        return RAW_S
    if length_s <= day and age_s < keeps.minute_days * day:
        return MINUTE_S
    return HOUR_S


NO_COUNTER = frozenset({("mig", "ampere")})
"""Ways of cutting a card whose slices have no counters of their own, by architecture."""

COUNTED = frozenset(
    {"util_mean", "util_max", "sm_mean", "sm_max", "occupancy_mean", "bandwidth_mean"}
)
"""What such counters would say."""


def blind(*, mode: str, architecture: str) -> bool:
    """Whether a steady 0 of such a slice only means that nobody counts (field case D07)."""
    return (mode, architecture) in NO_COUNTER
