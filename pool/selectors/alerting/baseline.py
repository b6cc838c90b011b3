"""A node's week as hours: how busy each hour of each weekday is, and what would have fitted."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from pool.models.nodes import Node
from pool.models.telemetry.rollups import PLACE

EMPTY = 10.0
"""Below this mean utilisation, in per cent, an hour is called empty."""

LEAST_DAYS = 7
"""A baseline says something after so many days."""


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour of one weekday (Monday 0), over all weeks looked at. Unknown is None.

    `util`, `sm`, `occupancy`, `memory` are means in per cent, `util_p95` the 95th percentile;
    `tasks` the mean number of running attempts, `wait_s` the mean wait of what started then, and
    `fitted` the mean number of workloads that waited for a card meanwhile.
    """

    weekday: int
    hour: int
    util: float | None
    util_p95: float | None
    sm: float | None
    occupancy: float | None
    memory: float | None
    tasks: float
    wait_s: float | None
    fitted: float

    @property
    def empty(self) -> bool:
        """Hardly used, as far as is known."""
        return self.util is not None and self.util < EMPTY


@dataclass(frozen=True, slots=True)
class Baseline:
    """The hours of a week; `days` is for how many days something is known."""

    since: datetime
    until: datetime
    days: int
    hours: tuple[Hour, ...]

    @property
    def enough(self) -> bool:
        """Whether a week is known."""
        return self.days >= LEAST_DAYS

    @property
    def empty_hours(self) -> list[Hour]:
        """Those hardly used, with the most waiting work first."""
        return sorted(
            (one for one in self.hours if one.empty),
            key=lambda one: (-one.fitted, one.weekday, one.hour),
        )


_HOURS = """
SELECT extract(isodow FROM at AT TIME ZONE %(zone)s)::int - 1,
       extract(hour FROM at AT TIME ZONE %(zone)s)::int,
       sum(mean[{util}] * known[{util}]) / nullif(sum(known[{util}]), 0),
       percentile_cont(0.95) WITHIN GROUP (ORDER BY p95[{util}]),
       sum(mean[{sm}] * known[{sm}]) / nullif(sum(known[{sm}]), 0),
       sum(mean[{occupancy}] * known[{occupancy}]) / nullif(sum(known[{occupancy}]), 0),
       avg(100.0 * mean[{memory}] / c.memory_mib),
       count(DISTINCT at)
FROM pool_rollup_hour r JOIN pool_card c ON c.id = r.card_id
WHERE r.slice_id IS NULL AND r.at >= %(since)s AND r.at < %(until)s
  AND (%(node)s::bigint IS NULL OR c.node_id = %(node)s::bigint)
GROUP BY 1, 2
"""
_TASKS = """
SELECT extract(isodow FROM at AT TIME ZONE %(zone)s)::int - 1,
       extract(hour FROM at AT TIME ZONE %(zone)s)::int,
       count(DISTINCT (at, attempt_id))::float
FROM pool_rollup_hour r JOIN pool_card c ON c.id = r.card_id
WHERE r.attempt_id IS NOT NULL AND r.at >= %(since)s AND r.at < %(until)s
  AND (%(node)s::bigint IS NULL OR c.node_id = %(node)s::bigint)
GROUP BY 1, 2
"""
_WAITS = """
SELECT extract(isodow FROM w.started_at AT TIME ZONE %(zone)s)::int - 1,
       extract(hour FROM w.started_at AT TIME ZONE %(zone)s)::int,
       avg(extract(epoch FROM w.started_at - w.queued_at))
FROM pool_workload w
WHERE w.started_at >= %(since)s AND w.started_at < %(until)s AND w.queued_at <= w.started_at
  AND (%(node)s::bigint IS NULL OR EXISTS (
      SELECT 1 FROM pool_attempt a WHERE a.workload_id = w.id AND a.node_id = %(node)s::bigint))
GROUP BY 1, 2
"""
_FITTED = """
WITH waits AS (
    SELECT w.queued_at AS began, coalesce(w.started_at, w.ended_at, %(until)s) AS over
    FROM pool_workload w
    WHERE w.queued_at >= %(since)s AND w.queued_at < %(until)s::timestamptz + interval '1 hour'
      AND coalesce(w.started_at, w.ended_at, %(until)s) - w.queued_at > interval '1 minute'
), steps AS (
    SELECT date_trunc('hour', began) AS h, 1 AS n FROM waits
    UNION ALL
    SELECT date_trunc('hour', over + interval '1 hour' - interval '1 microsecond'), -1 FROM waits
), sums AS (SELECT h, sum(n) AS n FROM steps GROUP BY h),
hours AS (
    SELECT h, sum(coalesce(sums.n, 0)) OVER (ORDER BY h) AS waiting
    FROM generate_series(date_trunc('hour', %(since)s::timestamptz), %(until)s::timestamptz,
                         interval '1 hour') h
    LEFT JOIN sums USING (h)
)
SELECT extract(isodow FROM h AT TIME ZONE %(zone)s)::int - 1,
       extract(hour FROM h AT TIME ZONE %(zone)s)::int,
       sum(waiting)::float
FROM hours WHERE waiting > 0
GROUP BY 1, 2
"""
"""Each wait is a step up in its first hour and a step down after its last: no hour is held against
every workload."""


def baseline_of(*, node: Node | None, days: int, at: datetime, zone: str = "UTC") -> Baseline:
    """One node's hours, or with None those of all nodes; observe-only nodes are read alike.

    Five queries, whatever the size.
    """
    since = at - timedelta(days=days)
    words: dict[str, Any] = {
        "since": since,
        "until": at,
        "node": node.pk if node is not None else None,
        "zone": zone,
    }
    places = {name: PLACE[name] + 1 for name in ("util", "sm", "occupancy")}
    read = _asked(_HOURS.format(memory=PLACE["memory_mib"] + 1, **places), words)
    tasks = {key: row[0] for key, row in _asked(_TASKS, words).items()}
    waits = {key: row[0] for key, row in _asked(_WAITS, words).items()}
    fitted = {key: row[0] for key, row in _asked(_FITTED, words).items()}
    weeks = max(1.0, days / 7)
    hours = []
    for weekday in range(7):
        for hour in range(24):
            key = (weekday, hour)
            util, p95, sm, occupancy, memory, many = read.get(key, (None,) * 5 + (0,))
            hours.append(
                Hour(
                    weekday=weekday,
                    hour=hour,
                    util=_float(util),
                    util_p95=_float(p95),
                    sm=_float(sm),
                    occupancy=_float(occupancy),
                    memory=_float(memory),
                    tasks=(tasks.get(key) or 0.0) / max(1, many or 1),
                    wait_s=_float(waits.get(key)),
                    fitted=(fitted.get(key) or 0.0) / weeks,
                )
            )
    return Baseline(since, at, _days(words), tuple(hours))


def _days(words: dict[str, Any]) -> int:
    """For how many days something was measured."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(DISTINCT (r.at AT TIME ZONE %(zone)s)::date) FROM pool_rollup_hour r "
            "JOIN pool_card c ON c.id = r.card_id WHERE r.slice_id IS NULL "
            "AND r.at >= %(since)s AND r.at < %(until)s "
            "AND (%(node)s::bigint IS NULL OR c.node_id = %(node)s::bigint)",
            words,
        )
        return int(cursor.fetchone()[0])


def _asked(statement: str, words: dict[str, Any]) -> dict[tuple[int, int], tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, words)
        return {(row[0], row[1]): row[2:] for row in cursor.fetchall()}


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
