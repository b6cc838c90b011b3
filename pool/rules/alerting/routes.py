"""Pure: which routes an alert takes, and when its word may leave; silences.

Performance and single workloads keep to the hours of their route: days of the week, minutes of the
day in the route's zone, days on which it is closed. Everything else is told at any hour.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from pool.rules.alerting.terms import RANK, Family, Severity

FURTHEST_DAYS = 60
"""A route that is closed for longer than this lets the word out then."""

ALL_DAYS = frozenset(range(7))

KEEP_HOURS = frozenset({Family.PERFORMANCE, Family.WORKLOAD})


@dataclass(frozen=True, slots=True)
class Hours:
    """When a route is open: weekdays 0 … 6 from Monday, minutes of the day, closed dates."""

    days: frozenset[int] = ALL_DAYS
    start_min: int = 0
    end_min: int = 1440
    zone: str = "UTC"
    closed: frozenset[date] = frozenset()

    @property
    def always(self) -> bool:
        """Open at any time."""
        return self.days >= ALL_DAYS and (self.start_min, self.end_min) == (0, 1440)


@dataclass(frozen=True, slots=True)
class Told:
    """What of an alert routes and silences look at."""

    family: str
    severity: str
    subject: str = ""
    rule: int | None = None
    project: int | None = None


@dataclass(frozen=True, slots=True)
class Matcher:
    """Empty parts match everything; `severity` is the least that matches."""

    family: str = ""
    severity: str = ""
    subject: str = ""
    rule: int | None = None
    project: int | None = None

    def matches(self, told: Told) -> bool:
        """Whether an alert is meant."""
        return (
            self.family in ("", told.family)
            and (not self.severity or _rank(told.severity) >= _rank(self.severity))
            and self.subject in ("", told.subject)
            and self.rule in (None, told.rule)
            and self.project in (None, told.project)
        )

    @property
    def empty(self) -> bool:
        """Would match everything there is."""
        return self == Matcher()


def silenced(told: Told, silences: Iterable[Matcher]) -> bool:
    """Whether one of the silences in force covers it."""
    return any(one.matches(told) for one in silences)


def open_at(hours: Hours, moment: datetime) -> bool:
    """Whether the route is open at the moment."""
    here = moment.astimezone(ZoneInfo(hours.zone))
    minute = here.hour * 60 + here.minute
    inside = hours.start_min <= minute < hours.end_min
    return inside and here.weekday() in hours.days and here.date() not in hours.closed


def due(hours: Hours, family: str, moment: datetime) -> datetime:
    """When the word of such an alert may leave: at once, or at the route's next opening."""
    if family not in KEEP_HOURS or open_at(hours, moment):
        return moment
    zone = ZoneInfo(hours.zone)
    here = moment.astimezone(zone)
    opening = time(hours.start_min // 60, hours.start_min % 60)
    for later in range(FURTHEST_DAYS):
        day = here.date() + timedelta(days=later)
        start = datetime.combine(day, opening, tzinfo=zone)
        if start > moment and day.weekday() in hours.days and day not in hours.closed:
            return start
    return moment + timedelta(days=FURTHEST_DAYS)


def _rank(severity: str) -> int:
    return RANK.get(Severity(severity), 0) if severity in set(Severity) else 0
