"""Room for tomorrow's rows, and an end for what has been kept long enough."""

from dataclasses import dataclass
from datetime import date, timedelta

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
from pool.services.telemetry.bandwidth import bandwidth_learn
from pool.services.telemetry.retention import tables_ahead, tables_drop
from pool.services.whatif.runs import studies_forget

WATCH_KEPT = timedelta(hours=1)
"""What a machine saw that has not watched for so long is forgotten."""

LOG_DAYS = 90
"""Log text of an attempt is kept so long after its end."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What one run made and dropped. `shares` counts the projects that used anything lately,
    `accurate` the people whose durations are known, `bandwidths` the classes that were learned,
    `studies` the what-ifs and periods that were forgotten.
    """

    days_dropped: int = 0
    log_pieces: int = 0
    rounds: int = 0
    shares: int = 0
    accurate: int = 0
    bandwidths: int = 0
    studies: int = 0


def housekeep() -> Kept | None:
    """One run; None when another process is at it. Safe to repeat."""
    with only_one(HOUSEKEEP) as mine:
        if not mine:
            return None
        today = now().date()
        _months(today)
        tables_ahead(today=today)
        NodeWatch.objects.filter(swept_at__lt=now() - WATCH_KEPT).delete()
        return Kept(
            days_dropped=tables_drop(today=today),
            log_pieces=_old_logs(),
            rounds=rounds_forget(),
            shares=fairness_count(),
            accurate=accuracy_count(),
            bandwidths=bandwidth_learn(),
            studies=studies_forget(),
        )


def _months(today: date) -> None:
    """Partitions of the log for this month and the next."""
    with connection.cursor() as cursor:
        for month in (today, today.replace(day=1) + timedelta(days=32)):
            cursor.execute("SELECT pool_event_month(%s)", [month])


def _old_logs() -> int:
    """Delete the text of attempts that ended long ago; how many pieces went."""
    since = now() - timedelta(days=LOG_DAYS)
    old = LogChunk.objects.filter(attempt__state=AttemptState.ENDED, attempt__ended_at__lt=since)
    return old.delete()[0]
