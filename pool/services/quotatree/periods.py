"""Card-hours of a month: what was held since it began and what runs has still declared.

All of it is summed once a minute. A start is judged by that sum and by what opened since, so that
it costs the same on the last day of a busy month as on the first.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import connection, transaction

from pool.clock import now
from pool.lifecycle.roles import QuotaUnit
from pool.models.placements import Hold
from pool.models.quotas import Quota
from pool.models.quotatree.periods import QuotaPeriod
from pool.services.moves import locked
from pool.sweeps import each
from pool.wake import round_wanted

OLDEST = timedelta(minutes=10)
"""A sum that is older than this is not trusted: the whole month is summed instead."""

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
  AND h.id > %(after)s AND h.id <= %(upto)s
"""

NEWEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Span:
    """Of which time, and of which holds: those after one key up to another."""

    since: datetime
    at: datetime
    after: int = 0
    upto: int = NEWEST


def month_began(at: datetime, zone: str) -> datetime:
    """The first moment of the month, as the organization's clocks show it."""
    return at.astimezone(ZoneInfo(zone)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def periods_counted() -> int:
    """Count the month of every row of card-hours anew; how many there are. Safe to repeat."""
    rows = Quota.objects.filter(unit=QuotaUnit.CARD_SECONDS).select_related(
        "organization", "project__organization", "period"
    )
    found = list(rows.order_by("pk"))
    crossed = each(found, _counted, of="quota.month")
    if crossed:
        with transaction.atomic():
            round_wanted()
    return len(found)


def month_taken(row: Quota) -> int:
    """Card-seconds of the running month, used and still declared by what runs.

    As it was counted last, with what opened since; the caller holds the row's lock. What ended
    early or runs over since then is seen by the next count.
    """
    since, at = _since(row), now()
    period = QuotaPeriod.objects.filter(quota=row, since=since).first()
    if period is None or at - period.counted_at > OLDEST:
        return sum(_summed(row, Span(since, at)))
    opened = sum(_summed(row, Span(since, at, after=period.counted_to)))
    return period.used + period.promised + opened


def _since(row: Quota) -> datetime:
    home = row.organization if row.project is None else row.project.organization
    return month_began(now(), home.zone if home else "UTC")


def _counted(row: Quota) -> bool:
    """Write one row's month; whether it is used up now and was not before, or the reverse."""
    since = _since(row)
    upto, at = _newest_hold(row), now()
    used, promised = _summed(row, Span(since, at, upto=upto))
    before = getattr(row, "period", None)
    full = before is not None and before.used + before.promised >= row.limit_value
    QuotaPeriod.objects.update_or_create(
        quota=row,
        defaults={
            "since": since,
            "used": used,
            "promised": promised,
            "counted_at": at,
            "counted_to": upto,
        },
    )
    return full != (used + promised >= row.limit_value)


@transaction.atomic
def _newest_hold(row: Quota) -> int:
    """Up to which hold all that count here are there: starts take the row's lock before they open
    one, so none of a smaller key is still to come."""
    locked(Quota.objects.filter(pk=row.pk))
    return Hold.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _summed(row: Quota, span: Span) -> tuple[int, int]:
    words: dict[str, datetime | int | str | None] = {
        "at": span.at,
        "since": span.since,
        "after": span.after,
        "upto": span.upto,
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
