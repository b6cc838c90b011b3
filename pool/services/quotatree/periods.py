"""Card-hours of a month: what was held since it began and what runs has still declared."""

from datetime import datetime
from zoneinfo import ZoneInfo

from django.db import connection, transaction

from pool.clock import now
from pool.lifecycle.roles import QuotaUnit
from pool.models.quotas import Quota
from pool.models.quotatree.periods import QuotaPeriod
from pool.wake import round_wanted

_USED = """
SELECT coalesce(sum(h.equivalents_micro * extract(epoch FROM
        least(coalesce(upper(h.held), %(at)s), %(at)s) - greatest(lower(h.held), %(since)s))), 0)
    / 1000000,
  coalesce(sum(h.equivalents_micro * greatest(0, w.expected_seconds - extract(epoch FROM
        %(at)s - coalesce(a.started_at, p.opened_at)))) FILTER (WHERE upper_inf(h.held)), 0)
    / 1000000
FROM pool_hold h
JOIN pool_placement p ON p.id = h.placement_id
JOIN pool_attempt a ON a.id = p.attempt_id
JOIN pool_workload w ON w.id = a.workload_id
JOIN pool_project j ON j.id = w.project_id
LEFT JOIN pool_card c ON c.id = h.card_id
WHERE h.slice_id IS NOT NULL AND h.held && tstzrange(%(since)s, %(at)s)
  AND p.partition_id = %(partition)s
  AND (%(label)s = '' OR c.label = %(label)s)
  AND (%(organization)s::bigint IS NULL OR j.organization_id = %(organization)s)
  AND (%(project)s::bigint IS NULL OR j.id = %(project)s)
  AND (%(user)s::bigint IS NULL OR w.owner_id = %(user)s)
"""


def month_began(at: datetime, zone: str) -> datetime:
    """The first moment of the month, as the organization's clocks show it."""
    return at.astimezone(ZoneInfo(zone)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def periods_counted() -> int:
    """Count the month of every row of card-hours anew; how many there are. Safe to repeat."""
    rows = Quota.objects.filter(unit=QuotaUnit.CARD_SECONDS).select_related(
        "organization", "project__organization", "period"
    )
    found = list(rows.order_by("pk"))
    crossed = [_counted(row) for row in found]
    if any(crossed):
        with transaction.atomic():
            round_wanted()
    return len(found)


def month_taken(row: Quota) -> int:
    """Card-seconds of the running month, used and still declared by what runs, as of now."""
    return sum(_summed(row, _since(row), now()))


def _since(row: Quota) -> datetime:
    home = row.organization if row.project is None else row.project.organization
    return month_began(now(), home.zone if home else "UTC")


def _counted(row: Quota) -> bool:
    """Write one row's month; whether it is used up now and was not before, or the reverse."""
    at = now()
    since = _since(row)
    used, promised = _summed(row, since, at)
    before = getattr(row, "period", None)
    full = before is not None and before.used + before.promised >= row.limit_value
    QuotaPeriod.objects.update_or_create(
        quota=row,
        defaults={"since": since, "used": used, "promised": promised, "counted_at": at},
    )
    return full != (used + promised >= row.limit_value)


def _summed(row: Quota, since: datetime, at: datetime) -> tuple[int, int]:
    words: dict[str, datetime | int | str | None] = {
        "at": at,
        "since": since,
        "partition": row.partition_id,
        "label": row.card_model,
        "organization": row.organization_id,
        "project": row.project_id,
        "user": row.user_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(_USED, words)
        used, promised = cursor.fetchone()
    return int(used), int(promised)
