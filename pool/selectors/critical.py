"""Budgets of critical work, month by month, beside what is used and promised."""

from datetime import date, datetime
from typing import Any

from django.db import connection

from pool.clock import now
from pool.models.tenants import Organization
from pool.models.yielding import CriticalBudget

_SPENT = """
SELECT coalesce(sum(h.equivalents_micro / 1e6 * extract(epoch FROM
    upper(h.held * tstzrange(%(since)s, %(until)s))
    - lower(h.held * tstzrange(%(since)s, %(until)s)))), 0)::float8
FROM pool_hold h
JOIN pool_placement p ON p.id = h.placement_id
JOIN pool_attempt a ON a.id = p.attempt_id
JOIN pool_workload w ON w.id = a.workload_id
JOIN pool_project j ON j.id = w.project_id
WHERE j.organization_id = %(organization)s AND w.priority = 'critical'
  AND h.slice_id IS NOT NULL AND h.held && tstzrange(%(since)s, %(until)s)
"""

_PROMISED = """
SELECT coalesce(sum(w.asked_micro / 1e6 * coalesce(w.array_size, 1)
    * greatest(0, w.expected_seconds - coalesce(
        extract(epoch FROM %(at)s - a.started_at), 0))), 0)::float8
FROM pool_workload w
JOIN pool_project j ON j.id = w.project_id
LEFT JOIN pool_attempt a ON a.workload_id = w.id AND a.state = 'open'
WHERE j.organization_id = %(organization)s AND w.priority = 'critical'
  AND w.ended_at IS NULL AND (w.array_size IS NULL OR NOT EXISTS (
      SELECT FROM pool_workload c WHERE c.parent_id = w.id))
"""


def critical_months(*, organization: Organization) -> list[dict[str, Any]]:
    """This month, granted or not, and every later one that is granted; oldest first."""
    this = now().date().replace(day=1)
    rows = CriticalBudget.objects.filter(organization=organization, month__gte=this)
    granted = {this: 0} | dict(rows.values_list("month", "card_seconds"))
    promised = critical_promised_s(organization_id=organization.pk)
    return [
        {
            "month": month,
            "granted_card_seconds": seconds,
            "used_card_seconds": critical_used_s(organization_id=organization.pk, month=month),
            "promised_card_seconds": promised if month == this else 0.0,
        }
        for month, seconds in sorted(granted.items())
    ]


def critical_used_s(*, organization_id: int, month: date) -> float:
    """Card-seconds that critical work of the organization has held in the month (UTC)."""
    since = datetime(month.year, month.month, 1, tzinfo=now().tzinfo)
    until = min(now(), _next(since))
    if until <= since:
        return 0.0
    span: dict[str, int | datetime] = {"since": since, "until": until}
    return _number(_SPENT, {"organization": organization_id, **span})


def critical_promised_s(*, organization_id: int) -> float:
    """Card-seconds that critical work which runs or waits has declared and not yet used."""
    return _number(_PROMISED, {"organization": organization_id, "at": now()})


def _number(query: str, words: dict[str, int | datetime]) -> float:
    with connection.cursor() as cursor:
        cursor.execute(query, words)
        return float(cursor.fetchone()[0])


def _next(since: datetime) -> datetime:
    return since.replace(year=since.year + since.month // 12, month=since.month % 12 + 1)
