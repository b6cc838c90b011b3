"""Work of every kind that holds card memory while its SM use is nothing, in a few queries."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from pool.lifecycle.workloads import WorkloadState
from pool.models.workloads import Workload
from pool.rules.idle import SM_PERCENT
from pool.rules.idling.hogs import Use, hogs
from pool.selectors.memberships import Standing
from pool.selectors.workloads import workload_list

LOOK_S = 600
BACK_S = 24 * 3600
"""Means are of the last ten minutes; how long nothing computes is looked up for a day."""

MOST = 500

_USES = """
WITH run AS (
    SELECT a.id AS attempt, a.workload_id AS workload, sum(h.memory_mib) AS mib
    FROM pool_hold h
    JOIN pool_placement p ON p.id = h.placement_id
    JOIN pool_attempt a ON a.id = p.attempt_id
    WHERE upper_inf(h.held) AND h.slice_id IS NOT NULL AND a.workload_id = ANY(%(work)s)
    GROUP BY a.id, a.workload_id
)
SELECT run.workload, run.mib, s.memory, s.sm, s.known, run.attempt
FROM run JOIN LATERAL (
    SELECT sum(memory_mib_mean) / nullif(count(DISTINCT at)
               FILTER (WHERE memory_mib_mean IS NOT NULL), 0) AS memory,
           avg(sm_mean) AS sm,
           coalesce(sum(seconds) FILTER (WHERE sm_mean IS NOT NULL), 0)
               / greatest(count(DISTINCT slice_id), 1) AS known
    FROM pool_sample
    WHERE attempt_id = run.attempt AND slice_id IS NOT NULL AND at > %(since)s
) s ON true
"""

_QUIET = """
WITH minute AS (
    SELECT attempt_id, at, max(seconds) FILTER (WHERE known[2] > 0) AS seconds,
           bool_or(mean[2] >= %(sm)s) AS busy
    FROM pool_rollup_minute
    WHERE attempt_id = ANY(%(attempts)s) AND at > %(since)s AND slice_id IS NOT NULL
    GROUP BY attempt_id, at
), last AS (
    SELECT attempt_id, max(at) FILTER (WHERE busy) AS at FROM minute GROUP BY attempt_id
)
SELECT m.attempt_id,
       coalesce(sum(m.seconds) FILTER (WHERE m.at > coalesce(l.at, '-infinity')), 0)
FROM minute m JOIN last l USING (attempt_id) GROUP BY m.attempt_id
"""


def hog_list(
    *, standing: Standing, now: datetime, found: list[Use] | None = None
) -> list[tuple[Workload, Use]]:
    """Those of the projects that the person may read, the most memory first.

    `found` is what was found for others who may read the same; the work itself is read anew.
    """
    rows = workload_list(standing=standing).filter(state=WorkloadState.RUNNING)
    found = hogs_found(standing=standing, now=now) if found is None else found
    work = {row.pk: row for row in rows.filter(pk__in=[one.workload for one in found])}
    return [(work[one.workload], one) for one in found if one.workload in work]


def hogs_found(*, standing: Standing, now: datetime) -> list[Use]:
    """What each of them uses; the most memory first."""
    rows = workload_list(standing=standing).filter(state=WorkloadState.RUNNING)
    running = rows.order_by().values_list("pk", flat=True)
    return _with_quiet(hogs(uses_of(workloads=list(running), now=now))[:MOST], now)


def uses_of(*, workloads: list[int], now: datetime) -> list[Use]:
    """What each of these has used lately; one query however many they are."""
    words: dict[str, Any] = {"work": workloads, "since": now - timedelta(seconds=LOOK_S)}
    with connection.cursor() as cursor:
        cursor.execute(_USES, words)
        told = cursor.fetchall()
    return [
        Use(
            workload=workload,
            memory_mib=memory,
            slice_mib=int(mib),
            sm_percent=sm,
            known_s=float(known),
            attempt=attempt,
        )
        for workload, mib, memory, sm, known, attempt in told
    ]


def _with_quiet(found: list[Use], now: datetime) -> list[Use]:
    """The same with how long each is quiet; asked of those that are shown alone."""
    quiet = _quiet([one.attempt for one in found], now) if found else {}
    return [replace(one, quiet_s=quiet.get(one.attempt)) for one in found]


def _quiet(attempts: list[int], now: datetime) -> dict[int, float]:
    """Known seconds since compute was last seen, where it was seen within a day."""
    words: dict[str, Any] = {"attempts": attempts, "sm": SM_PERCENT}
    words["since"] = now - timedelta(seconds=BACK_S)
    with connection.cursor() as cursor:
        cursor.execute(_QUIET, words)
        return {attempt: float(seconds) for attempt, seconds in cursor.fetchall()}
