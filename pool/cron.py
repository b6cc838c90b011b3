"""Times of a cron line in a time zone, summer time included; the five fields of Debian's cron."""

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from pool.rules.problems import Problem
from pool.rules.problems import marked as _

LONGEST = 120
LOOK_BACK = timedelta(days=31)
"""Times that passed longer ago are not looked at any more."""


def cron_problem(line: str) -> Problem | None:
    """What is wrong with a cron line; every line that passes has a next time."""
    fields = line.split()
    if len(fields) != 5 or len(line) > LONGEST or not line.isascii():
        return Problem(_("Five fields are needed: minute hour day month weekday."))
    try:
        found = next(iter(CronSim(line, datetime(2024, 1, 1, tzinfo=UTC))), None)
    except CronSimError as bad:
        return Problem(_("This is no cron line: %(why)s."), {"why": str(bad)})
    return None if found else Problem(_("There is no such day."))


def times_after(line: str, at: datetime, *, zone: str, count: int) -> list[datetime]:
    """The next times strictly after `at`, in UTC.

    A fixed time that a change to summer time leaves out comes right after the gap, one that the
    change back repeats comes once; lines with `*` or a step in minute or hour follow real time.
    """
    return list(islice(_times(line, at, zone), count))


def times_between(
    line: str, after: datetime, until: datetime, *, zone: str, most: int
) -> list[datetime]:
    """The newest times after `after` up to `until`, oldest first, in UTC; of the last 31 days."""
    found: deque[datetime] = deque(maxlen=most)
    for one in _times(line, max(after, until - LOOK_BACK), zone):
        if one > until:
            break
        found.append(one)
    return list(found)


def _times(line: str, at: datetime, zone: str) -> Iterator[datetime]:
    return (one.astimezone(UTC) for one in CronSim(line, at.astimezone(ZoneInfo(zone))))
