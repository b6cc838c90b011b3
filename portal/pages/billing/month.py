"""One month of one organization in figures: the same for the page, for scripts and for mails."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta

from billing.rating.days import day_of, midnight, month_of, next_month
from billing.rating.pace import band
from billing.selectors.holds import database_now
from billing.selectors.lost import Lost, lost_to_preemption
from billing.selectors.team import (
    Group,
    Waste,
    month_days,
    month_forecast,
    month_groups,
    month_parts,
    month_total_until,
    month_waste,
)
from pool.models import Organization
from portal.pages.billing.places import Place

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class MonthReport:
    """Amounts in 10⁻⁶ of the currency. `band` holds the month's end eight times of ten.

    `last` is what the month before had come to by the same day, None where this one is over.
    """

    parts: dict[str, int]
    total: int
    forecast: int | None
    band: tuple[int, int] | None
    last: int | None
    groups: list[Group]
    wastes: list[Waste]
    days: dict[date, int]
    lost: Lost


def month_report(*, place: Place, first: date, by: str) -> MonthReport:
    """The month told by one of GROUPS, of the projects within the reader's reach.

    Raises:
        KeyError: there is no such group.
    """
    home, projects = place.organization, place.projects
    parts = month_parts(organization=home, first=first, projects=projects)
    total = sum(parts.values())
    days = month_days(organization=home, first=first, projects=projects)
    return MonthReport(
        parts=parts,
        total=total,
        forecast=month_forecast(organization=home, first=first, micro=total),
        band=_band(home, first, days, total),
        last=_same_day(home, first, projects),
        groups=month_groups(organization=home, first=first, by=by, projects=projects),
        wastes=month_waste(organization=home, first=first, projects=projects),
        days=days,
        lost=lost_to_preemption(organization=home, first=first, projects=projects),
    )


def _band(
    home: Organization, first: date, days: dict[date, int], total: int
) -> tuple[int, int] | None:
    """Of a month that runs; its whole days so far count, also those on which nothing ran."""
    now = database_now()
    today = day_of(now, home.zone)
    if month_of(today) != first:
        return None
    whole = [days.get(first + n * DAY, 0) for n in range(today.day - 1)]
    left = (midnight(next_month(first), home.zone) - now) / DAY
    return band(whole, sum_micro=total, left_days=left)


def _same_day(home: Organization, first: date, projects: Collection[int] | None) -> int | None:
    """What the month before had come to by the same day; None where this one does not run."""
    today = day_of(database_now(), home.zone)
    if month_of(today) != first:
        return None
    before = (first - DAY).replace(day=1)
    until = min(before + timedelta(days=today.day), first)
    return month_total_until(organization=home, first=before, day=until, projects=projects)
