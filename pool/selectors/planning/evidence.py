"""Everything a verdict rests on, and the same figures of two periods side by side."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, DurationField, ExpressionWrapper, F, QuerySet

from pool.models.expressions import Percentile
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.rules.planning.verdict import LONG_DAYS, Evidence, TeamUse
from pool.selectors.memberships import Standing
from pool.selectors.planning.use import pool_use, teams_held
from pool.selectors.rounds import wait_target_s

ALL = Standing(platform=True)


@dataclass(frozen=True, slots=True)
class Period:
    """One period in figures. Waits in seconds; `card_hours` are of whole cards held."""

    since: datetime
    until: datetime
    card_hours: float
    mean_cards: float
    use_milli: int | None
    known_milli: int
    started: int
    p50_wait_s: float | None
    p95_wait_s: float | None


def evidence(*, until: datetime, standing: Standing = ALL, days: float = LONG_DAYS) -> Evidence:
    """The pool over the span, and the readable teams in it; a constant number of queries."""
    since = until - timedelta(days=days)
    pool = pool_use(since=since, until=until)
    hours = days * 24
    waits = _waits(standing, since, until)
    held = teams_held(since=since, until=until, standing=standing)
    named = Project.objects.filter(pk__in={*held, *waits}).order_by("slug")
    teams = []
    for pk, slug, name in named.values_list("pk", "slug", "name"):
        mine, wait = held.get(pk), waits.get(pk)
        teams.append(
            TeamUse(
                slug=slug,
                name=name,
                held_cards=mine.card_hours / hours if mine else 0.0,
                use_milli=mine.use_milli if mine else None,
                p95_wait_s=wait[2] if wait else None,
                started=wait[0] if wait else 0,
                p50_wait_s=wait[1] if wait else None,
            )
        )
    return Evidence(
        days=pool.days,
        cards=pool.cards,
        use_milli=pool.use_milli,
        known_milli=pool.known_milli,
        target_s=wait_target_s(),
        teams=tuple(teams),
    )


def period(*, since: datetime, until: datetime, standing: Standing = ALL) -> Period:
    """The figures of one period: of the whole pool, or of the readable teams."""
    held = teams_held(since=since, until=until, standing=standing)
    hours = sum(one.card_hours for one in held.values())
    pool = pool_use(since=since, until=until)
    started = _together(standing, since, until)
    return Period(
        since=since,
        until=until,
        card_hours=hours,
        mean_cards=hours / max(1e-9, (until - since).total_seconds() / 3600),
        use_milli=pool.use_milli,
        known_milli=pool.known_milli,
        started=started[0],
        p50_wait_s=started[1],
        p95_wait_s=started[2],
    )


Waits = tuple[int, float | None, float | None]


def _waits(standing: Standing, since: datetime, until: datetime) -> dict[int, Waits]:
    """Count, median and 95th percentile of the waits of what started, by project."""
    rows = _started(standing, since, until).values_list("project")
    told = rows.annotate(
        n=Count("pk"), p50=Percentile("waited", 0.5), p95=Percentile("waited", 0.95)
    )
    return {pk: (n, _seconds(p50), _seconds(p95)) for pk, n, p50, p95 in told}


def _together(standing: Standing, since: datetime, until: datetime) -> Waits:
    told = _started(standing, since, until).aggregate(
        n=Count("pk"), p50=Percentile("waited", 0.5), p95=Percentile("waited", 0.95)
    )
    return told["n"], _seconds(told["p50"]), _seconds(told["p95"])


def _started(standing: Standing, since: datetime, until: datetime) -> QuerySet[Any, Any]:
    waited = ExpressionWrapper(F("started_at") - F("queued_at"), output_field=DurationField())
    rows = Workload.objects.filter(
        standing.sees(),
        started_at__gte=since,
        started_at__lt=until,
        queued_at__lte=F("started_at"),
    )
    return rows.order_by().annotate(waited=waited)


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()
