"""What the runs of a notebook held, and for how much of that time it was used."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from pool.models.workloads import Workload
from pool.rules.idle import SM_PERCENT

SHOWN = 20

_PAST = """
SELECT a.number,
       extract(epoch FROM coalesce(p.closed_at, pool_now()) - p.opened_at)::float8,
       s.known, s.used
FROM pool_attempt a
JOIN pool_placement p ON p.attempt_id = a.id
LEFT JOIN LATERAL (
    SELECT sum(m.known) AS known, sum(m.used) AS used FROM (
        SELECT avg(seconds) FILTER (WHERE mean[2] IS NOT NULL) AS known,
               sum(seconds) FILTER (WHERE mean[2] >= %(sm)s)
                   / count(*) FILTER (WHERE mean[2] IS NOT NULL) AS used
        FROM pool_rollup_minute
        WHERE attempt_id = a.id AND slice_id IS NOT NULL
          AND at >= p.opened_at - interval '1 minute' AND at <= coalesce(p.closed_at, pool_now())
        GROUP BY at
    ) m
) s ON true
WHERE a.workload_id = %(work)s
ORDER BY a.number DESC LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Past:
    """One run in seconds: how long it held its slice, how long SM was known, and how long busy.

    Of several slices the mean counts: two that compute for an hour are busy for an hour.
    """

    number: int
    held_s: float
    known_s: float | None
    used_s: float | None

    @property
    def used_milli(self) -> int | None:
        """Thousandths of the known time in which the card computed; None where nothing is known."""
        return round(1000 * (self.used_s or 0.0) / self.known_s) if self.known_s else None


def held_and_used(*, workload: Workload) -> Sequence[Past]:
    """The newest runs, the newest first; minutes that are dropped by age count as not known."""
    with connection.cursor() as cursor:
        cursor.execute(_PAST, {"work": workload.pk, "sm": SM_PERCENT, "most": SHOWN})
        return [Past(*row) for row in cursor.fetchall()]
