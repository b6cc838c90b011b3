"""How long an invitation may live, and what is needed of the words of one."""

from datetime import timedelta

from pool.rules.problems import Problem
from pool.rules.problems import marked as _

SHORTEST = timedelta(hours=1)
LONGEST = timedelta(days=30)
USUAL = timedelta(days=7)

WIND_DOWN = timedelta(hours=24)
"""How long running work of somebody who left may go on, unless told otherwise."""

LONGEST_WIND_DOWN = timedelta(days=7)


def lifetime_problem(seconds: object) -> Problem | None:
    """An invitation lives from an hour to 30 days."""
    if type(seconds) is int and SHORTEST.total_seconds() <= seconds <= LONGEST.total_seconds():
        return None
    return Problem(_("From one hour (3,600 s) to 30 days (2,592,000 s)."))


def wind_down_problem(seconds: object) -> Problem | None:
    """Running work of a leaver ends at once (0) or within seven days."""
    if type(seconds) is int and 0 <= seconds <= LONGEST_WIND_DOWN.total_seconds():
        return None
    return Problem(_("From 0 to seven days (604,800 s)."))
