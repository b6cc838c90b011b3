"""How a person used what was granted before: beside a request, for those who decide."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, Q

from pool.clock import now
from pool.lifecycle.requests import RequestState
from pool.lifecycle.workloads import WorkloadState
from pool.models.requests import Request
from pool.models.users import User
from pool.models.workloads import Workload

DAYS = 28

_HELD = """
SELECT coalesce(sum(h.equivalents_micro * extract(epoch FROM
           least(coalesce(upper(h.held), pool_now()), pool_now())
         - greatest(lower(h.held), %(since)s))), 0) / 3.6e9
FROM pool_hold h
JOIN pool_placement p ON p.id = h.placement_id
JOIN pool_attempt a ON a.id = p.attempt_id
JOIN pool_workload w ON w.id = a.workload_id
WHERE w.owner_id = %(user)s AND h.slice_id IS NOT NULL
  AND h.held && tstzrange(%(since)s, pool_now())
"""

_GRANTED = """
SELECT coalesce(sum(amount * seconds), 0) / 3.6e9
FROM (
    SELECT DISTINCT ON (l.id)
        (t.value ->> 'amount')::bigint AS amount,
        extract(epoch FROM
            least(upper(l.valid), pool_now()) - greatest(lower(l.valid), %(since)s)) AS seconds
    FROM pool_lease l
    JOIN pool_request r ON r.id = l.request_id
    CROSS JOIN LATERAL jsonb_array_elements(l.entitled) AS t(value)
    JOIN pool_quota q ON q.id = (t.value ->> 'quota')::bigint
    WHERE r.requester_id = %(user)s AND q.unit = 'cards_micro'
      AND l.valid && tstzrange(%(since)s, pool_now())
    ORDER BY l.id, q.id
) AS granted
"""


@dataclass(frozen=True, slots=True)
class Record:
    """One person over the last 28 days; card-hours are in card equivalents.

    `granted_hours` counts leases still in force, `held_hours` what their work really held.
    """

    days: int
    asked: int
    approved: int
    rejected: int
    finished: int
    failed: int
    held_hours: float
    granted_hours: float

    @property
    def first_time(self) -> bool:
        """Whether the person asked for the first time."""
        return self.asked <= 1


def record_of(*, user: User) -> Record:
    """The person's record; four queries."""
    since = now() - timedelta(days=DAYS)
    requests = Request.objects.filter(requester=user, submitted_at__gte=since).aggregate(
        asked=Count("pk"),
        approved=Count("pk", filter=Q(state=RequestState.APPROVED)),
        rejected=Count("pk", filter=Q(state=RequestState.REJECTED)),
    )
    work = Workload.objects.filter(owner=user, ended_at__gte=since).aggregate(
        finished=Count("pk", filter=Q(state=WorkloadState.SUCCEEDED)),
        failed=Count("pk", filter=Q(state=WorkloadState.FAILED)),
    )
    words: dict[str, Any] = {"user": user.pk, "since": since}
    with connection.cursor() as cursor:
        cursor.execute(_HELD, words)
        held = float(cursor.fetchone()[0])
        cursor.execute(_GRANTED, words)
        granted = float(cursor.fetchone()[0])
    return Record(days=DAYS, **requests, **work, held_hours=held, granted_hours=granted)
