"""The team's month: who spent what on what, asked against used, and where money is wasted."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import connection

from billing.models.usage import Usage
from billing.rating.accounts import OF_THE_PLATFORM, Account
from billing.rating.days import midnight, month_of, next_month
from billing.rating.intervals import Span, micros
from billing.selectors.holds import database_now
from pool.models.tenants import Organization

GROUPS = {
    "project": "pr.name",
    "person": "us.username",
    "cost_centre": "coalesce(u.cost_centre, pr.cost_centre, '')",
    "template": "tp.name",
    "model": "coalesce(u.card_model, '')",
    "mode": "coalesce(u.mode, '')",
}
"""By what a bill can be looked at; each is one fixed expression."""

WASTE = (Account.HELD_IDLE, Account.STRANDED)
"""Paid for, and nobody got anything from it."""

_FROM = """
FROM billing_posting p
LEFT JOIN billing_usage u ON u.id = p.usage_id
LEFT JOIN pool_project pr ON pr.id = p.project_id
LEFT JOIN pool_user us ON us.id = u.owner_id
LEFT JOIN pool_workload w ON w.id = u.workload_id
LEFT JOIN pool_templateversion tv ON tv.id = w.template_version_id
LEFT JOIN pool_template tp ON tp.id = tv.template_id
WHERE p.organization_id = %s AND p.month = %s AND p.account <> ALL(%s)
  AND (%s::bigint[] IS NULL OR p.project_id = ANY(%s::bigint[]))
"""


@dataclass(frozen=True, slots=True)
class Group:
    """One row of the table; amounts in 10⁻⁶ of the currency, times in card-microseconds."""

    name: str
    micro: int
    waste_micro: int
    held_us: int
    used_us: int

    @property
    def held_s(self) -> float:
        """Card-seconds held."""
        return self.held_us / 1_000_000

    @property
    def used_milli(self) -> int | None:
        """The part of the held time in which work ran, in thousandths."""
        return self.used_us * 1000 // self.held_us if self.held_us else None


@dataclass(frozen=True, slots=True)
class Waste:
    """One workload whose money went for nothing: whose, how much, and what would help."""

    workload: str
    name: str
    owner: str
    project: str
    kind: str
    account: str
    micro: int


def month_parts(
    *, organization: Organization, first: date, projects: Collection[int] | None = None
) -> dict[str, int]:
    """What each account comes to; `projects` narrows it to those one may see."""
    sql = f"SELECT p.account, sum(p.amount_micro) {_FROM} GROUP BY 1"  # noqa: S608
    return {account: int(micro) for account, micro in _asked(sql, organization, first, projects)}


def month_groups(
    *,
    organization: Organization,
    first: date,
    by: str,
    projects: Collection[int] | None = None,
) -> list[Group]:
    """The month by one of GROUPS, dearest first.

    Raises:
        KeyError: there is no such group.
    """
    held = "p.account IN ('used', 'held_idle', 'held_unknown')"
    sql = (
        f"SELECT coalesce({GROUPS[by]}, ''), sum(p.amount_micro), "  # noqa: S608
        "sum(p.amount_micro) FILTER (WHERE p.account IN ('held_idle', 'stranded')), "
        f"sum(p.card_us) FILTER (WHERE {held}), "
        f"sum(p.card_us) FILTER (WHERE p.account = 'used') {_FROM} GROUP BY 1"
    )
    found = [
        Group(name, int(micro), int(waste or 0), int(held_us or 0), int(used_us or 0))
        for name, micro, waste, held_us, used_us in _asked(sql, organization, first, projects)
    ]
    return sorted(found, key=lambda one: (-one.micro, one.name))


def month_waste(
    *,
    organization: Organization,
    first: date,
    projects: Collection[int] | None = None,
    most: int = 3,
) -> list[Waste]:
    """The worst workloads by money for time in which nothing ran, or that nobody could use."""
    sql = (
        "SELECT w.uid, w.name, us.username, pr.name, w.kind, "  # noqa: S608
        "(array_agg(p.account ORDER BY p.amount_micro DESC))[1], sum(p.amount_micro) "
        f"{_FROM} AND p.account IN ('held_idle', 'stranded') AND w.id IS NOT NULL "
        f"GROUP BY 1, 2, 3, 4, 5 HAVING sum(p.amount_micro) > 0 ORDER BY 7 DESC LIMIT {int(most)}"
    )
    return [
        Waste(uid, name, owner, project, kind, account, int(micro))
        for uid, name, owner, project, kind, account, micro in _asked(
            sql, organization, first, projects
        )
    ]


def month_total_until(
    *, organization: Organization, first: date, day: date, projects: Collection[int] | None = None
) -> int:
    """What the month had come to before a day of it."""
    sql = f"SELECT sum(p.amount_micro) {_FROM} AND p.day < %s"  # noqa: S608
    rows = _asked(sql, organization, first, projects, day)
    return int(rows[0][0] or 0)


def month_days(
    *, organization: Organization, first: date, projects: Collection[int] | None = None
) -> dict[date, int]:
    """What each day came to."""
    sql = f"SELECT p.day, sum(p.amount_micro) {_FROM} GROUP BY 1 ORDER BY 1"  # noqa: S608
    return {day: int(micro) for day, micro in _asked(sql, organization, first, projects)}


def month_forecast(*, organization: Organization, first: date, micro: int) -> int | None:
    """What the month will come to at its mean pace; None before a day of it has passed."""
    begin = midnight(month_of(first), organization.zone)
    end = midnight(next_month(first), organization.zone)
    now = database_now()
    if now >= end:
        return micro
    if now - begin < timedelta(days=1):
        return None
    whole, passed = Span(micros(begin), micros(end)), Span(micros(begin), micros(now))
    return micro * whole.length_us // passed.length_us


def unpriced(*, organization: Organization, first: date) -> bool:
    """Whether something of the month has no price yet."""
    begin = midnight(first, organization.zone)
    end = midnight(next_month(first), organization.zone)
    rows = Usage.objects.filter(organization=organization, hour__gte=begin, hour__lt=end)
    return rows.filter(amount_micro=None, reserved_us__gt=0).exists()


def _asked(
    sql: str,
    organization: Organization,
    first: date,
    projects: Collection[int] | None,
    *more: Any,
) -> list[Any]:
    named = None if projects is None else sorted(projects)
    apart = [str(one) for one in OF_THE_PLATFORM]
    with connection.cursor() as cursor:
        cursor.execute(sql, [organization.pk, first, apart, named, named, *more])
        rows: list[Any] = cursor.fetchall()
    return rows
