"""A node's week as hours: how busy each hour of each weekday is, and what would have fitted."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import F, QuerySet, Value
from django.db.models.functions import Coalesce

from pool.models.nodes import Node
from pool.models.telemetry.rollups import PLACE
from pool.models.workloads import Workload

EMPTY = 10.0
"""Below this mean utilisation, in per cent, an hour is called empty."""

LEAST_DAYS = 7
"""A baseline says something after so many days."""

MOST_LOOKED_AT = 300
"""So many of the longest waits are looked at to name what would have fitted."""

MEASURED = (
    *("util", "util_p95", "sm", "sm_p95", "occupancy", "occupancy_p95"),
    *("memory", "memory_p95"),
)
"""What is read of cards, in the order of the query."""

Waited = list[tuple[Workload, float]]


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour of one weekday (Monday 0), over all weeks looked at. Unknown is None.

    `util`, `sm`, `occupancy`, `memory` are means in per cent, `tasks` the mean number of running
    attempts, `wait_s` the mean wait of what started then; each has its 95th percentile beside it:
    of readings for what is measured, of the weeks for tasks, of the starts for waits. `fitted` is
    the mean number of workloads that waited meanwhile though these cards could have held them.
    """

    weekday: int
    hour: int
    util: float | None
    util_p95: float | None
    sm: float | None
    sm_p95: float | None
    occupancy: float | None
    occupancy_p95: float | None
    memory: float | None
    memory_p95: float | None
    tasks: float
    tasks_p95: float
    wait_s: float | None
    wait_s_p95: float | None
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


_PLACE = """
extract(isodow FROM {at} AT TIME ZONE %(zone)s)::int - 1,
extract(hour FROM {at} AT TIME ZONE %(zone)s)::int
"""


def _measured(name: str, scale: str = "") -> str:
    """Mean by known time and 95th percentile of one metric; names come from METRICS alone."""
    place = PLACE[name] + 1
    return (
        f"sum(mean[{place}]{scale} * known[{place}]) / nullif(sum(known[{place}]), 0), "
        f"percentile_cont(0.95) WITHIN GROUP (ORDER BY p95[{place}]{scale})"
    )


_HOURS = f"""
SELECT {_PLACE.format(at="at")},
       {_measured("util")}, {_measured("sm")}, {_measured("occupancy")},
       {_measured("memory_mib", " * 100.0 / c.memory_mib")},
       count(DISTINCT at)
FROM pool_rollup_hour r JOIN pool_card c ON c.id = r.card_id
WHERE r.slice_id IS NULL AND r.at >= %(since)s AND r.at < %(until)s
  AND (%(node)s::bigint IS NULL OR c.node_id = %(node)s::bigint)
GROUP BY 1, 2
"""  # noqa: S608 - only constants of this house
_TASKS = f"""
WITH each AS (
    SELECT at, count(DISTINCT attempt_id)::float AS n
    FROM pool_rollup_hour r JOIN pool_card c ON c.id = r.card_id
    WHERE r.attempt_id IS NOT NULL AND r.at >= %(since)s AND r.at < %(until)s
      AND (%(node)s::bigint IS NULL OR c.node_id = %(node)s::bigint)
    GROUP BY at
)
SELECT {_PLACE.format(at="at")}, sum(n), percentile_cont(0.95) WITHIN GROUP (ORDER BY n)
FROM each GROUP BY 1, 2
"""  # noqa: S608 - only constants of this house
_WAITS = f"""
SELECT {_PLACE.format(at="started_at")},
       avg(wait), percentile_cont(0.95) WITHIN GROUP (ORDER BY wait)
FROM (
    SELECT w.started_at, extract(epoch FROM w.started_at - w.queued_at)::float AS wait
    FROM pool_workload w
    WHERE w.started_at >= %(since)s AND w.started_at < %(until)s AND w.queued_at <= w.started_at
      AND (%(node)s::bigint IS NULL OR EXISTS (
        SELECT 1 FROM pool_attempt a WHERE a.workload_id = w.id AND a.node_id = %(node)s::bigint))
) told GROUP BY 1, 2
"""  # noqa: S608 - only constants of this house
FITS = """
w.state NOT IN ('on_hold', 'awaiting_approval') AND coalesce((w.need->>'parts')::int, 1) > 0
AND EXISTS (
    SELECT 1 FROM (
        SELECT c.label, c.vendor, c.nominal_gb, c.memory_mib, count(*) AS many
        FROM pool_card c
        WHERE c.state <> 'retired'
          AND (%(node)s::bigint IS NULL OR c.node_id = %(node)s::bigint)
        GROUP BY 1, 2, 3, 4
    ) kind
    WHERE kind.many >= CASE WHEN w.need->>'whole' = 'true'
                            THEN coalesce((w.need->>'parts')::int, 1) ELSE 1 END
      AND kind.nominal_gb >= coalesce((w.need->>'memory_gb')::int, 0)
      AND kind.nominal_gb >= coalesce((w.need->>'min_size_gb')::int, 0)
      AND kind.memory_mib >= coalesce((w.need->>'memory_mib')::int, 0)
      AND (jsonb_array_length(coalesce(w.need->'labels', '[]')) = 0
           OR w.need->'labels' ? kind.label)
      AND (jsonb_array_length(coalesce(w.need->'vendors', '[]')) = 0
           OR w.need->'vendors' ? kind.vendor)
)
"""
"""Whether the cards that are asked about could hold a workload: enough of one kind, large enough,
of a model and vendor that it takes. What a person holds back or has not approved waits for none."""

_FITTED = f"""
WITH waits AS (
    SELECT w.queued_at AS began, coalesce(w.started_at, w.ended_at, %(until)s) AS over
    FROM pool_workload w
    WHERE w.queued_at >= %(since)s AND w.queued_at < %(until)s::timestamptz + interval '1 hour'
      AND coalesce(w.started_at, w.ended_at, %(until)s) - w.queued_at > interval '1 minute'
      AND {FITS}
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
"""  # noqa: S608 - only constants of this house
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
    read, tasks = _asked(_HOURS, words), _asked(_TASKS, words)
    waits, fitted = _asked(_WAITS, words), _asked(_FITTED, words)
    weeks = max(1.0, days / 7)
    hours = []
    for weekday in range(7):
        for hour in range(24):
            key = (weekday, hour)
            *told, many = read.get(key, (None,) * 8 + (0,))
            work, work_p95 = tasks.get(key, (0.0, 0.0))
            figures = dict(zip(MEASURED, map(_float, told), strict=True))
            wait, wait_p95 = waits.get(key, (None, None))
            hours.append(
                Hour(
                    weekday=weekday,
                    hour=hour,
                    **figures,
                    tasks=float(work or 0.0) / max(1, many or 1),
                    tasks_p95=float(work_p95 or 0.0),
                    wait_s=_float(wait),
                    wait_s_p95=_float(wait_p95),
                    fitted=float(fitted.get(key, (0.0,))[0] or 0.0) / weeks,
                )
            )
    return Baseline(since, at, _days(words), tuple(hours))


def waited_in(*, rows: QuerySet[Workload], base: Baseline, node: Node | None, zone: str) -> Waited:
    """Of this work, what waited in the empty hours though the cards could have held it: each with
    the hours of it, the longest first. Two queries; the longest waits alone are looked at.
    """
    empty = {(one.weekday, one.hour) for one in base.hours if one.empty}
    over = Coalesce("started_at", "ended_at", Value(base.until))
    longest = (
        rows.filter(queued_at__gte=base.since, queued_at__lt=base.until)
        .annotate(waited_until=over, waited_for=over - F("queued_at"))
        .filter(waited_for__gt=timedelta(minutes=1))
        .order_by("-waited_for", "pk")[:MOST_LOOKED_AT]
    )
    looked = list(longest) if empty else []
    fits = _fitting([one.pk for one in looked], node)
    told = [
        (one, _hours_in(one.queued_at, min(one.waited_until, base.until), empty, ZoneInfo(zone)))  # type: ignore[arg-type]
        for one in looked
        if one.pk in fits
    ]
    return sorted((one for one in told if one[1]), key=lambda one: (-one[1], one[0].pk))


def _fitting(work: list[int], node: Node | None) -> set[int]:
    """Those of them that the cards could hold."""
    if not work:
        return set()
    words: dict[str, Any] = {"work": work, "node": node.pk if node is not None else None}
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT w.id FROM pool_workload w WHERE w.id = ANY(%(work)s) AND {FITS}",  # noqa: S608
            words,
        )
        return {row[0] for row in cursor.fetchall()}


def _hours_in(
    since: datetime, until: datetime, empty: set[tuple[int, int]], zone: ZoneInfo
) -> float:
    """How much of the span lies in such hours of the week."""
    seconds, at = 0.0, since
    while at < until:
        here = at.astimezone(zone)
        into = timedelta(minutes=here.minute, seconds=here.second, microseconds=here.microsecond)
        end = min(until, at + timedelta(hours=1) - into)
        if (here.weekday(), here.hour) in empty:
            seconds += (end - at).total_seconds()
        at = end
    return seconds / 3600


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
