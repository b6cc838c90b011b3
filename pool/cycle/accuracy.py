"""Whose declared durations have held lately: worked out from the attempts, read by forecasts."""

from datetime import timedelta

from django.db import connection, transaction

from pool.clock import now
from pool.models.accuracy import Accuracy
from pool.models.users import User

LOOK_BACK = timedelta(days=90)

LEAST_RUNS = 10
"""Fewer finished jobs say too little about a person."""

MOST_RATIO = 10.0
"""A forecast is stretched at most so far, however wrong its owner has been."""

_RATIOS = """
INSERT INTO pool_accuracy (user_id, p90_ratio, runs)
SELECT owner_id,
       greatest(least(percentile_cont(0.9) WITHIN GROUP (ORDER BY ratio), %s), 0.001),
       count(*)
FROM (
    SELECT w.owner_id,
           extract(epoch FROM a.ended_at - a.started_at)::float8 / w.expected_seconds AS ratio
    FROM pool_attempt a JOIN pool_workload w ON w.id = a.workload_id
    WHERE a.state = 'ended' AND a.exit_reason = 'finished' AND w.kind = 'job'
      AND a.started_at IS NOT NULL AND a.ended_at > %s AND w.expected_seconds > 0
) AS run
GROUP BY owner_id HAVING count(*) >= %s
"""


def accuracy_count() -> int:
    """Work out anew how far each person's jobs ran past what was declared; how many have a row.

    Readers see the old numbers until the new ones are whole.
    """
    with transaction.atomic():
        Accuracy.objects.all().delete()
        with connection.cursor() as cursor:
            cursor.execute(_RATIOS, [MOST_RATIO, now() - LOOK_BACK, LEAST_RUNS])
            return int(cursor.rowcount)


def ratio_of(owner: User) -> float:
    """The person's ratio, 1 for who has no row yet; no query when it was read with the owner."""
    return owner.accuracy.p90_ratio if hasattr(owner, "accuracy") else 1.0
