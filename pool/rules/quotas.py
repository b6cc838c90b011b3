"""Arithmetic of quota rows and of the standing allowance; all numbers in the row's own unit."""

from enum import StrEnum

SHORT_SECONDS = 3600
"""Work declared no longer than this waits its turn inside a full allowance; longer work asks."""


class Allowance(StrEnum):
    """What an allowance says to one piece of work."""

    FITS = "fits"
    WAITS = "waits"
    BEYOND = "beyond"


def ceiling_of(limit: int, held: int) -> int:
    """A smaller limit stops nothing that runs: the ceiling never falls below what is held."""
    return max(limit, held)


def over_by(limit: int, held: int) -> int:
    """How much is held beyond the limit, since it was cut; never negative."""
    return max(0, held - limit)


def room(limit: int, held: int) -> int:
    """How much more may be taken now."""
    return max(0, limit - held)


def allowance_says(
    *,
    limit: int,
    used: int,
    asked: int,
    seconds: int,
    when_full: str = "",
    copies: int = 1,
) -> Allowance:
    """Does work that asks `asked` need to ask anybody, with `used` living beside it?

    Of an array `copies` pieces may run at a time; they wait their turns like short work.

    What fits beside the living work never asks. What would fit an empty allowance waits its turn
    when it is short, or when its owner says so by `when_full` "wait"; "ask" always asks. Nothing
    here lets an allowance be passed: the start is gated by the row itself.
    """
    if asked > limit:
        return Allowance.BEYOND
    if used + asked * copies <= limit:
        return Allowance.FITS
    waits = when_full == "wait" or (when_full != "ask" and seconds <= SHORT_SECONDS)
    return Allowance.WAITS if waits else Allowance.BEYOND
