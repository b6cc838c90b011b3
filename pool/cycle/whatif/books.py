"""A period of the books as recorded work: what was asked for, when, and how long it ran."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.clock import now
from pool.cycle.accuracy import ratio_of
from pool.cycle.demand import CONTENT, claim, tenants_of
from pool.lifecycle.workloads import WORKLOAD
from pool.models.workloads import Workload
from pool.replay.whatif.trace import Kind, Trace, Work
from pool.rules.problems import Problems
from pool.rules.whatif.lines import MOST_LINES
from pool.scheduling.model import PriorityClass
from pool.selectors.telemetry.bandwidth import learned_heavy

CHUNK = 2000

_SPANS = """
SELECT a.workload_id,
    sum(extract(epoch FROM cut - p.opened_at))::float8,
    sum(extract(epoch FROM upto - cut))::float8,
    (sum(extract(epoch FROM upto - p.opened_at)) FILTER (WHERE a.state <> 'ended'))::float8
FROM pool_placement p JOIN pool_attempt a ON a.id = p.attempt_id
CROSS JOIN LATERAL (SELECT greatest(coalesce(p.closed_at, %(now)s), p.opened_at) AS upto) e
CROSS JOIN LATERAL (SELECT least(greatest(p.opened_at, %(since)s), upto) AS cut) c
WHERE a.workload_id = ANY(%(works)s)
GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """Seconds for which it ran before the period began and since; `now_s` in the run that still
    goes on, None without one.
    """

    before_s: float = 0.0
    since_s: float = 0.0
    now_s: float | None = None


class TooMuch(Exception):
    """More work than one replay takes; says how much there is."""


@dataclass(slots=True)
class Recorded:
    """The trace in the making, and what is not in it by reason."""

    since: datetime
    until: datetime
    kinds: dict[Kind, int] = field(default_factory=dict)
    works: list[Work] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def trace(self) -> Trace:
        """In the order of arrival."""
        self.works.sort(key=lambda work: (work.arrives_s, work.submit_s, work.number))
        return Trace(
            since_s=self.since.timestamp(),
            until_s=self.until.timestamp(),
            kinds=tuple(self.kinds),
            works=tuple(self.works),
        )


def recorded(
    since: datetime, until: datetime, *, say: Callable[[float], None] = lambda share: None
) -> Recorded:
    """All work that waited or ran in the period.

    What ran or waited before it begins with it, with what it had yet to run. What still waits or
    runs is taken to run as long as was declared, and what a checkpoint kept of earlier runs goes
    off that; what is over and never ran since the period began is left out and counted.

    `say` hears after every two thousand how far it is, and may raise to end it.

    Raises:
        TooMuch: more than 200,000 workloads.
    """
    rows = _rows(since, until)
    count = rows.count()
    if count > MOST_LINES:
        raise TooMuch(count)
    found = Recorded(since, until)
    for chunk in _chunks(rows):
        spans = _spans([row.pk for row in chunk], since)
        for row in chunk:
            _take(found, row, spans.get(row.pk, Ran()))
        say(len(found.works) / count)
    return found


def _rows(since: datetime, until: datetime) -> QuerySet[Workload]:
    return (
        Workload.objects.filter(array_size=None, queued_at__lt=until)
        .exclude(kind=WorkloadKind.EXTERNAL)
        .filter(Q(ended_at=None) | Q(ended_at__gt=since))
        .select_related("project__organization", "template_version__template", "owner__accuracy")
        .prefetch_related("partitions")
        .defer(*CONTENT)
        .annotate(learned_heavy=learned_heavy())
        .order_by("pk")
    )


def _chunks(rows: QuerySet[Workload]) -> Iterator[list[Workload]]:
    last = 0
    while chunk := list(rows.filter(pk__gt=last)[:CHUNK]):
        yield chunk
        last = chunk[-1].pk


def _spans(works: list[int], since: datetime) -> dict[int, Ran]:
    """By workload how long it ran."""
    with connection.cursor() as cursor:
        cursor.execute(_SPANS, {"works": works, "since": since, "now": now()})
        return {pk: Ran(*seconds) for pk, *seconds in cursor.fetchall()}


def _take(found: Recorded, row: Workload, ran: Ran) -> None:
    at = row.queued_at or row.submitted_at
    if not ran.since_s and row.state not in WORKLOAD.live:
        found.left_out["never_ran"] += 1
        return
    try:
        kind = _kind(row)
    except Problems:
        found.left_out["need_unreadable"] += 1
        return
    duration = _to_run(row, kind, ran)
    declared = float(row.expected_seconds)
    if ran.before_s:
        declared = max(duration, declared - ran.before_s)
    found.works.append(
        Work(
            number=row.pk,
            kind=found.kinds.setdefault(kind, len(found.kinds)),
            submit_s=at.timestamp(),
            arrives_s=max(at, found.since).timestamp(),
            duration_s=max(1.0, duration),
            declared_s=declared,
            priority=PriorityClass(row.priority),
            p90_ratio=round(ratio_of(row.owner), 2),
            counted=at >= found.since,
        )
    )


def _to_run(row: Workload, kind: Kind, ran: Ran) -> float:
    """How many seconds it ran since the period began, with those that it has yet to run."""
    if row.state not in WORKLOAD.live:
        return ran.since_s
    declared, kept = float(row.expected_seconds), kind.checkpoint_s is not None
    if ran.now_s is None:
        return max(ran.since_s, declared - (ran.before_s if kept else 0.0))
    done = ran.before_s + ran.since_s if kept else ran.now_s
    return ran.since_s + max(0.0, declared - done)


def _kind(row: Workload) -> Kind:
    version: Any = row.template_version
    return Kind(
        team=row.project.slug,
        tenants=tenants_of(row),
        trust=str(row.project.trust_group_id),
        need=claim(row, learned_heavy=attrgetter("learned_heavy")(row)),
        partitions=tuple(sorted(one.pk for one in row.partitions.all())),
        template=version.template.slug,
        kind=WorkloadKind(row.kind),
        purpose=version.work_class,
        price_class=version.price_class,
        preemptible=row.preemptible,
        checkpoint_s=version.checkpoint_seconds,
        notice_s=float(row.grace_seconds),
        protected_s=float(version.min_run_seconds),
    )
