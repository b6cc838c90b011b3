"""What became of what was approved: how much of it was held, and by how many workloads."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from pool.models.requests import Request

_HELD = """
SELECT l.request_id, count(DISTINCT w.id),
       coalesce(sum(extract(epoch FROM least(coalesce(upper(h.held), pool_now()), pool_now())
                                       - lower(h.held))), 0),
       max(l.copies) * extract(epoch FROM max(least(upper(l.valid), pool_now()) - lower(l.valid)))
FROM pool_lease l
LEFT JOIN pool_workload w ON w.lease_id = l.id
LEFT JOIN pool_attempt a ON a.workload_id = w.id
LEFT JOIN pool_placement p ON p.attempt_id = a.id
LEFT JOIN pool_hold h ON h.placement_id = p.id AND h.slice_id IS NOT NULL
WHERE l.request_id = ANY(%s)
GROUP BY l.request_id
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one approved request: its workloads, and the share of the granted time that was held.

    `share` is None before its time has begun.
    """

    workloads: int
    share: float | None

    @property
    def percent(self) -> int | None:
        """The share in percent."""
        return None if self.share is None else round(self.share * 100)


def outcomes_of(*, requests: Sequence[Request]) -> dict[int, Outcome]:
    """By key of each request that has a lease; one query for all."""
    with connection.cursor() as cursor:
        cursor.execute(_HELD, [[one.pk for one in requests]])
        rows = cursor.fetchall()
    parts = {one.pk: max(1, int(one.need.get("parts", 1))) for one in requests}
    return {key: Outcome(n, _share(held, due, parts[key])) for key, n, held, due in rows}


def _share(held_s: float, due_s: float, parts: int) -> float | None:
    due = float(due_s) * parts
    return min(1.0, float(held_s) / due) if due > 0 else None
