"""Pure: what a budget says of an amount: its level, its forecast, and the day it runs out."""

from dataclasses import dataclass
from enum import StrEnum

LEVELS = (80, 95, 100)
"""Percent at which people are told."""


class Measure(StrEnum):
    """What a budget counts: 10⁻⁶ of the currency, or 10⁻⁶ of a card-hour."""

    MONEY = "money"
    CARD_HOURS = "card_hours"


class Every(StrEnum):
    """How long a budget lasts before it begins anew."""

    MONTH = "month"
    QUARTER = "quarter"
    CUSTOM = "custom"


class Action(StrEnum):
    """What happens when it is used up."""

    NOTIFY = "notify"
    APPROVAL = "approval"
    BLOCK = "block"
    STOP = "stop_preemptible"


STOPS_STARTS = frozenset({Action.APPROVAL, Action.BLOCK, Action.STOP})


@dataclass(frozen=True, slots=True)
class Forecast:
    """The highest level that is reached: 0, 80, 95 or 100 percent; a limit of 0 is reached."""

    total: int
    runs_out_us: int | None


def level(spent: int, limit: int) -> int:
    """The highest level that is reached: 0, 80, 95, 100 percent; of a limit of 0 at once."""
    return max((one for one in LEVELS if spent * 100 >= limit * one), default=0)


def percent(spent: int, limit: int) -> int | None:
    """Whole percent, rounded down, so that 100 means all of it; None of a limit of 0."""
    return spent * 100 // limit if limit else None


def forecast(
    *, spent: int, limit: int, begin_us: int, now_us: int, end_us: int, per_hour: int | None = None
) -> Forecast:
    """Straight on at the mean pace since the period began, or at what runs now if that is more.

    `per_hour` is the pace of this moment in the measure's units.
    """
    passed = max(1, now_us - begin_us)
    left = max(0, end_us - now_us)
    hour = 3_600_000_000
    pace, over = spent, passed
    if per_hour is not None and per_hour * passed > spent * hour:
        pace, over = per_hour, hour
    total = spent + pace * left // over
    if spent >= limit:
        return Forecast(total, now_us)
    if pace <= 0:
        return Forecast(total, None)
    at = now_us + (limit - spent) * over // pace
    return Forecast(total, at if at < end_us else None)
