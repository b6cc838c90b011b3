"""What the last rounds did and how long they took; how long work waited, team by team."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, DurationField, ExpressionWrapper, F, Min

from pool.clock import now
from pool.lifecycle.workloads import WorkloadState
from pool.models.expressions import Percentile
from pool.models.installation import Installation
from pool.models.rounds import Round, RoundTotal
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing

SPAN = timedelta(days=7)
"""Waits of work that started within this are counted."""


@dataclass(frozen=True, slots=True)
class TeamWait:
    """How long a project's work waited, in seconds, beside what waits now.

    `p50_s` and `p95_s` are None where nothing started lately; `oldest_s` where nothing waits.
    """

    slug: str
    name: str
    started: int
    p50_s: float | None
    p95_s: float | None
    waiting: int
    oldest_s: float | None
    target_s: int

    @property
    def late(self) -> bool:
        """Whether work waited, or waits, longer than it should."""
        return max(self.p95_s or 0.0, self.oldest_s or 0.0) > self.target_s


def rounds_last(*, most: int = 20) -> list[Round]:
    """The newest rounds that did something, or stand for a quiet minute; newest first."""
    return list(Round.objects.all()[:most])


def rounds_total() -> RoundTotal:
    """The sums over all rounds; zeros before the first one."""
    return RoundTotal.objects.filter(pk=1).first() or RoundTotal()


def wait_target_s() -> int:
    """How long work should wait at most, nineteen times out of twenty."""
    return Installation.objects.values_list("wait_target_s", flat=True).get(pk=1)


def team_waits(*, standing: Standing) -> list[TeamWait]:
    """The readable projects where work started lately or waits, longest wait first; 3 queries.

    A wait is from joining the queue to the start of the process. Work that came back to the queue
    counts with its last time there.
    """
    moment, target = now(), wait_target_s()
    queued = _waiting_now(standing)
    started = _started(standing, moment - SPAN)
    found = []
    for slug in queued.keys() | started.keys():
        name, n, p50, p95 = started.get(slug, (queued.get(slug, ("",))[0], 0, None, None))
        waiting, oldest = queued[slug][1:] if slug in queued else (0, None)
        age = None if oldest is None else max(0.0, (moment - oldest).total_seconds())
        found.append(TeamWait(slug, name, n, _seconds(p50), _seconds(p95), waiting, age, target))
    return sorted(found, key=lambda one: (-max(one.p95_s or 0, one.oldest_s or 0), one.slug))


Queued = dict[str, tuple[str, int, datetime]]
Started = dict[str, tuple[str, int, timedelta | None, timedelta | None]]


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()


def _waiting_now(standing: Standing) -> Queued:
    """Name, count and oldest of what waits, by project."""
    rows = Workload.objects.filter(
        standing.sees(), state=WorkloadState.QUEUED, queued_at__isnull=False
    )
    grouped = rows.order_by().values_list("project__slug", "project__name")
    told = grouped.annotate(n=Count("pk"), oldest=Min("queued_at"))
    return {slug: (name, n, oldest) for slug, name, n, oldest in told}


def _started(standing: Standing, since: datetime) -> Started:
    """Name, count and percentiles of the waits of what started lately, by project."""
    waited = ExpressionWrapper(F("started_at") - F("queued_at"), output_field=DurationField())
    rows = Workload.objects.filter(
        standing.sees(), started_at__gte=since, queued_at__lte=F("started_at")
    )
    grouped = rows.order_by().annotate(waited=waited).values_list("project__slug", "project__name")
    told = grouped.annotate(
        n=Count("pk"), p50=Percentile("waited", 0.5), p95=Percentile("waited", 0.95)
    )
    return {slug: (name, n, p50, p95) for slug, name, n, p50, p95 in told}
