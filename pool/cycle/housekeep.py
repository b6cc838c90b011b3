"""Room for tomorrow's rows, and an end for what has been kept long enough."""

from dataclasses import dataclass
from datetime import date, timedelta

from django.conf import settings
from django.db import connection

from pool.clock import now
from pool.cycle.accuracy import accuracy_count
from pool.cycle.fairness import fairness_count
from pool.cycle.round import only_one
from pool.lifecycle.workloads import AttemptState
from pool.locks import HOUSEKEEP
from pool.models.nodes import NodeWatch
from pool.models.samples import LogChunk
from pool.services.queueing.rounds import rounds_forget

AHEAD_DAYS = 2
RAW_DAYS = 7
"""Raw samples are kept so long; their days are dropped whole."""

WATCH_KEPT = timedelta(hours=1)
"""What a machine saw that has not watched for so long is forgotten."""

LOG_DAYS = 90
"""Log text of an attempt is kept so long after its end."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What one run made and dropped. `shares` counts the projects that used anything lately,
    `accurate` the people whose durations are known.
    """

    days_dropped: int = 0
    log_pieces: int = 0
    rounds: int = 0
    shares: int = 0
    accurate: int = 0


def housekeep() -> Kept | None:
    """One run; None when another process is at it. Safe to repeat."""
    with only_one(HOUSEKEEP) as mine:
        if not mine:
            return None
        today = now().date()
        _ahead(today)
        NodeWatch.objects.filter(swept_at__lt=now() - WATCH_KEPT).delete()
        return Kept(
            days_dropped=_drop_days(today),
            log_pieces=_old_logs(),
            rounds=rounds_forget(),
            shares=fairness_count(),
            accurate=accuracy_count(),
        )


def _ahead(today: date) -> None:
    """Partitions of the next days and the next month."""
    with connection.cursor() as cursor:
        for ahead in range(AHEAD_DAYS + 1):
            cursor.execute("SELECT pool_sample_day(%s)", [today + timedelta(days=ahead)])
        for month in (today, today.replace(day=1) + timedelta(days=32)):
            cursor.execute("SELECT pool_event_month(%s)", [month])


def _drop_days(today: date) -> int:
    """Drop whole days of raw samples that are too old; how many tables went.

    Samples of days for which no table was there in time lie in the default one: they go singly.
    """
    days = int(getattr(settings, "RAW_SAMPLE_DAYS", RAW_DAYS))
    since = today - timedelta(days=days)
    oldest = f"pool_sample_{since:%Y%m%d}"
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM pool_sample_default WHERE at < %s::timestamp AT TIME ZONE 'UTC'", [since]
        )
        cursor.execute(
            "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
            "WHERE i.inhparent = 'pool_sample'::regclass AND c.relname ~ '^pool_sample_[0-9]{8}$' "
            "AND c.relname < %s ORDER BY 1",
            [oldest],
        )
        names = [name for (name,) in cursor.fetchall()]
        for name in names:
            cursor.execute(f"DROP TABLE {connection.ops.quote_name(name)}")
    return len(names)


def _old_logs() -> int:
    """Delete the text of attempts that ended long ago; how many pieces went."""
    since = now() - timedelta(days=LOG_DAYS)
    old = LogChunk.objects.filter(attempt__state=AttemptState.ENDED, attempt__ended_at__lt=since)
    return old.delete()[0]
