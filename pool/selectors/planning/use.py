"""How well cards were used over a span: by pool, by team and by kind of work."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Q

from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.models.telemetry.rollups import PLACE
from pool.models.tenants import Project
from pool.rules.planning.scatter import Dot
from pool.selectors.memberships import Standing

_SM, _UTIL, _MEMORY = (PLACE[name] + 1 for name in ("sm", "util", "memory_mib"))
_BUSY = f"coalesce(r.mean[{_SM}], r.mean[{_UTIL}])"
_KNOWN = f"CASE WHEN r.mean[{_SM}] IS NOT NULL THEN r.known[{_SM}] ELSE r.known[{_UTIL}] END"
"""SM where it is measured, else the busy time that the driver tells; unknown stays unknown."""


@dataclass(frozen=True, slots=True)
class PoolUse:
    """All whole cards over a span. `days` counts days with readings in at least half their hours.

    `use_milli` is the mean in thousandths, None when nothing was measured; `known_milli` is the
    share of the cards' time in which it was.
    """

    days: int
    cards: int
    use_milli: int | None
    known_milli: int


@dataclass(frozen=True, slots=True)
class Held:
    """What one project held: hours of whole cards, and the mean use of it in thousandths."""

    card_hours: float
    use_milli: int | None


def pool_use(
    *,
    since: datetime,
    until: datetime,
    labels: Sequence[str] = (),
    partition: Partition | None = None,
) -> PoolUse:
    """The mean use of all offered cards, of some models or of one partition; two queries."""
    cards = Card.objects.exclude(state="retired")
    if labels:
        cards = cards.filter(label__in=labels)
    if partition is not None:
        cards = cards.filter(partition=partition)
    number = cards.count()
    where, given = _narrowed(labels, partition)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FILTER (WHERE hours >= 12), sum(busy), sum(known) FROM ("  # noqa: S608
            f" SELECT date_trunc('day', r.at AT TIME ZONE 'UTC'), count(DISTINCT r.at) AS hours,"
            f" sum({_BUSY} * ({_KNOWN})) AS busy, sum({_KNOWN}) AS known"
            f" FROM pool_rollup_hour r JOIN pool_card c ON c.id = r.card_id"
            f" WHERE r.slice_id IS NULL AND r.at >= %s AND r.at < %s{where} GROUP BY 1) days",
            [since, until, *given],
        )
        days, busy, known = cursor.fetchone()
    whole = number * max(1.0, (until - since).total_seconds())
    return PoolUse(
        days=days or 0,
        cards=number,
        use_milli=round(10 * busy / known) if known else None,
        known_milli=min(1000, round(1000 * (known or 0.0) / whole)) if number else 0,
    )


def measured_days(
    *, partitions: Collection[int], since: datetime, until: datetime
) -> dict[int, int]:
    """On how many days of the span each partition had readings in half of the hours; one query."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT place, count(*) FROM ("
            " SELECT c.partition_id AS place, date_trunc('day', r.at AT TIME ZONE 'UTC')"
            " FROM pool_rollup_hour r JOIN pool_card c ON c.id = r.card_id"
            " WHERE r.slice_id IS NULL AND r.at >= %s AND r.at < %s"
            " AND c.partition_id = ANY(%s)"
            " GROUP BY 1, 2 HAVING count(DISTINCT r.at) >= 12) days GROUP BY 1",
            [since, until, sorted(partitions)],
        )
        return dict(cursor.fetchall())


def use_in(spans: Sequence[tuple[int, datetime, datetime]]) -> list[int | None]:
    """The mean use of partitions, each over its own span (key, since, until); one query."""
    if not spans:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT u.busy / nullif(u.known, 0) FROM"  # noqa: S608
            " unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[])"
            " WITH ORDINALITY AS s(place, since, until, n)"
            f" CROSS JOIN LATERAL (SELECT sum({_BUSY} * ({_KNOWN})) AS busy,"
            f" sum({_KNOWN}) AS known"
            " FROM pool_rollup_hour r JOIN pool_card c ON c.id = r.card_id"
            " WHERE c.partition_id = s.place AND r.slice_id IS NULL"
            " AND r.at >= s.since AND r.at < s.until) u ORDER BY s.n",
            [list(column) for column in zip(*spans, strict=True)],
        )
        return [None if use is None else round(10 * use) for (use,) in cursor.fetchall()]


def teams_held(*, since: datetime, until: datetime, standing: Standing) -> dict[int, Held]:
    """What each readable project held and how much of it was used, by key; two queries."""
    projects = list(Project.objects.filter(_mine(standing)).values_list("pk", flat=True))
    hours = _held_hours(projects, since, until)
    use = _use_of(projects, since, until)
    return {
        pk: Held(hours.get(pk, 0.0), use.get(pk)) for pk in projects if pk in hours or pk in use
    }


def dots(*, since: datetime, until: datetime, standing: Standing, most: int = 200) -> list[Dot]:
    """The kinds of work of the readable projects, by template, the heaviest first; two queries."""
    projects = list(Project.objects.filter(_mine(standing)).values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.uid, t.name,"  # noqa: S608
            f" sum(r.mean[{_MEMORY}] * r.known[{_MEMORY}])"
            f"  / nullif(sum(s.memory_mib * r.known[{_MEMORY}])"
            f"  FILTER (WHERE r.mean[{_MEMORY}] IS NOT NULL), 0),"
            f" sum({_BUSY} * ({_KNOWN}) * s.equivalents_micro)"
            f"  / nullif(sum(({_KNOWN}) * s.equivalents_micro)"
            f"  FILTER (WHERE {_BUSY} IS NOT NULL), 0),"
            " sum(r.seconds * s.equivalents_micro) / 3600e6"
            " FROM pool_rollup_hour r JOIN pool_slice s ON s.id = r.slice_id"
            " JOIN pool_attempt a ON a.id = r.attempt_id"
            " JOIN pool_workload w ON w.id = a.workload_id"
            " JOIN pool_templateversion v ON v.id = w.template_version_id"
            " JOIN pool_template t ON t.id = v.template_id"
            " WHERE r.at >= %s AND r.at < %s AND w.project_id = ANY(%s)"
            " GROUP BY t.uid, t.name ORDER BY 5 DESC LIMIT %s",
            [since, until, projects, most],
        )
        rows = cursor.fetchall()
    return [
        Dot(
            key=uid,
            name=name,
            memory_milli=None if memory is None else min(1000, round(1000 * memory)),
            compute_milli=None if busy is None else min(1000, round(10 * busy)),
            card_hours=hours or 0.0,
        )
        for uid, name, memory, busy, hours in rows
    ]


def _mine(standing: Standing) -> Q:
    return standing.sees("")


def _narrowed(labels: Sequence[str], partition: Partition | None) -> tuple[str, list[Any]]:
    parts: list[tuple[str, Any]] = []
    if labels:
        parts.append((" AND c.label = ANY(%s)", list(labels)))
    if partition is not None:
        parts.append((" AND c.partition_id = %s", partition.pk))
    return "".join(sql for sql, _given in parts), [given for _sql, given in parts]


def _held_hours(projects: Sequence[int], since: datetime, until: datetime) -> dict[int, float]:
    """Hours of whole cards by project, exact: what of each hold lies in the span."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT w.project_id, sum(h.equivalents_micro::float8 * extract(epoch FROM"
            " least(coalesce(upper(h.held), %(until)s), %(until)s)"
            " - greatest(lower(h.held), %(since)s))) / 3600e6"
            " FROM pool_hold h JOIN pool_placement p ON p.id = h.placement_id"
            " JOIN pool_attempt a ON a.id = p.attempt_id"
            " JOIN pool_workload w ON w.id = a.workload_id"
            " WHERE h.card_id IS NOT NULL AND h.held && tstzrange(%(since)s, %(until)s)"
            " AND w.project_id = ANY(%(projects)s) GROUP BY 1",
            {"since": since, "until": until, "projects": list(projects)},
        )
        return {pk: float(hours) for pk, hours in cursor.fetchall() if hours}


def _use_of(projects: Sequence[int], since: datetime, until: datetime) -> dict[int, int | None]:
    """Mean use in thousandths of what each project held, weighted by the size of the slices."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT w.project_id, sum({_BUSY} * ({_KNOWN}) * s.equivalents_micro)"  # noqa: S608
            f" / nullif(sum(({_KNOWN}) * s.equivalents_micro)"
            f" FILTER (WHERE {_BUSY} IS NOT NULL), 0)"
            " FROM pool_rollup_hour r JOIN pool_slice s ON s.id = r.slice_id"
            " JOIN pool_attempt a ON a.id = r.attempt_id"
            " JOIN pool_workload w ON w.id = a.workload_id"
            " WHERE r.at >= %s AND r.at < %s AND w.project_id = ANY(%s) GROUP BY 1",
            [since, until, list(projects)],
        )
        return {pk: None if use is None else round(10 * use) for pk, use in cursor.fetchall()}
