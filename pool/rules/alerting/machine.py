"""Pure: when an alert begins, fires and ends. One look at a time, whatever the clock does between.

Fires once: between a fire and the next there is a resolve. Hysteresis keeps the bad side apart
from the well side; what is unknown moves nothing. Who flaps has to be well for longer each time.
"""

from dataclasses import dataclass
from enum import StrEnum

FLAP_S = 3600
"""Firings of one condition within this time are counted as flapping."""

FLAPPING = 2
"""From so many earlier firings within FLAP_S on an alert is marked."""

MOST_DOUBLINGS = 5
LEAST_CLEAR_S = 60.0
"""What flaps has to be well for at least so long, doubled with each firing."""


class Phase(StrEnum):
    """Where a condition stands."""

    NONE = "none"
    PENDING = "pending"
    OPEN = "open"


class Turn(StrEnum):
    """What a look brings about."""

    PEND = "pend"
    FIRE = "fire"
    RESOLVE = "resolve"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Timing:
    """How long it must be bad before it fires, and well before it ends, in seconds."""

    for_s: float
    clear_s: float


@dataclass(frozen=True, slots=True)
class Watch:
    """What is remembered between looks: since when bad, since when well again."""

    phase: Phase = Phase.NONE
    since: float = 0.0
    well_since: float | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """One look; both None when nothing is known. Between the thresholds it is neither."""

    bad: bool | None
    well: bool | None


def look_at(value: float | None, *, side: str, threshold: float, clear: float | None) -> Look:
    """The value against the thresholds of its rule."""
    if value is None:
        return Look(None, None)
    end = threshold if clear is None else clear
    if side == "above":
        return Look(value > threshold, value <= end)
    return Look(value < threshold, value >= end)


def slower(timing: Timing, flaps: int) -> Timing:
    """The same for a condition that fired `flaps` times lately."""
    if flaps <= 0:
        return timing
    clear = max(timing.clear_s, LEAST_CLEAR_S) * 2 ** min(flaps, MOST_DOUBLINGS)
    return Timing(timing.for_s, clear)


def step(timing: Timing, watch: Watch, look: Look, at: float) -> tuple[Watch, Turn | None]:
    """The watch after one look at the moment `at` (seconds), and what it brings about."""
    if watch.phase is Phase.NONE:
        return _begin(timing, look, at)
    if watch.phase is Phase.PENDING:
        if look.bad and at - watch.since >= timing.for_s:
            return Watch(Phase.OPEN, at), Turn.FIRE
        if look.bad is False:
            return Watch(), Turn.DROP
        return watch, None
    if not look.well:
        return Watch(Phase.OPEN, watch.since), None
    well_since = at if watch.well_since is None else min(watch.well_since, at)
    if at - well_since >= timing.clear_s:
        return Watch(), Turn.RESOLVE
    return Watch(Phase.OPEN, watch.since, well_since), None


def _begin(timing: Timing, look: Look, at: float) -> tuple[Watch, Turn | None]:
    if not look.bad:
        return Watch(), None
    if timing.for_s <= 0:
        return Watch(Phase.OPEN, at), Turn.FIRE
    return Watch(Phase.PENDING, at), Turn.PEND
