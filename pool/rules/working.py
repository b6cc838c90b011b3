"""The working calendar: days, hours, holidays, and the working time between two moments."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from pool.rules.problems import Problem, Problems
from pool.rules.problems import marked as _

FAR = timedelta(days=366)
"""Further ahead nobody looks: a calendar without working days ends there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingCalendar:
    """When people answer: `days` from 0 (Monday), whole hours of the day, days off by date."""

    zone: tzinfo = UTC
    days: frozenset[int] = frozenset(range(5))
    begins: int = 9
    ends: int = 17
    holidays: frozenset[date] = frozenset()

    def works_on(self, day: date) -> bool:
        """Whether anybody is at work on that day."""
        return day.weekday() in self.days and day not in self.holidays

    def span(self, day: date) -> tuple[datetime, datetime]:
        """The working time of a day; summer time makes it no longer or shorter by the clock."""
        begin = datetime.combine(day, time(self.begins), tzinfo=self.zone)
        midnight = datetime.combine(day + timedelta(days=1), time(0), tzinfo=self.zone)
        end = (
            datetime.combine(day, time(self.ends), tzinfo=self.zone) if self.ends < 24 else midnight
        )
        return begin.astimezone(UTC), end.astimezone(UTC)


def calendar_from(given: Mapping[str, Any], zone: tzinfo) -> WorkingCalendar:
    """A calendar as written: {"days": [0, 1], "begins": 9, "ends": 17, "holidays": ["2026-12-25"]}.

    What is left out is Monday to Friday, 9 to 17. Raises Problems.
    """
    if not isinstance(given, Mapping) or set(given) - {"days", "begins", "ends", "holidays"}:
        raise Problems({"calendar": Problem(_("A calendar knows: days, begins, ends, holidays."))})
    days = given.get("days", [0, 1, 2, 3, 4])
    begins, ends = given.get("begins", 9), given.get("ends", 17)
    if not isinstance(days, list) or not days or not all(_whole(one, 0, 6) for one in days):
        raise Problems({"calendar": Problem(_("Days are numbers from 0 (Monday) to 6 (Sunday)."))})
    if not _whole(begins, 0, 23) or not _whole(ends, 1, 24) or begins >= ends:
        raise Problems({"calendar": Problem(_("The working day begins before it ends."))})
    return WorkingCalendar(
        zone=zone,
        days=frozenset(days),
        begins=begins,
        ends=ends,
        holidays=frozenset(_date(one) for one in given.get("holidays", [])),
    )


def working_after(calendar: WorkingCalendar, start: datetime, hours: float) -> datetime:
    """When so many working hours have passed since `start`; at the latest a year ahead."""
    left = timedelta(hours=hours)
    day = start.astimezone(calendar.zone).date()
    last = day + FAR
    while day <= last:
        if calendar.works_on(day):
            begin, end = calendar.span(day)
            begin = max(begin, start)
            if end - begin >= left and end >= begin:
                return begin + left
            left -= max(timedelta(0), end - begin)
        day += timedelta(days=1)
    return start + FAR


def working_hours(calendar: WorkingCalendar, since: datetime, until: datetime) -> float:
    """Working hours between two moments, of at most the last year; 0 when they are in disorder."""
    since = max(since, until - FAR)
    day, total = since.astimezone(calendar.zone).date(), timedelta(0)
    while day <= until.astimezone(calendar.zone).date():
        if calendar.works_on(day):
            begin, end = calendar.span(day)
            total += max(timedelta(0), min(end, until) - max(begin, since))
        day += timedelta(days=1)
    return total.total_seconds() / 3600


def _whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _date(value: Any) -> date:
    try:
        return date.fromisoformat(str(value))
    except ValueError as wrong:
        said = Problem(_("A day off is written as 2026-12-25, not %(text)s."), {"text": value})
        raise Problems({"calendar": said}) from wrong
