"""What a rule would have done over stored data: how often it fires, where, for how long."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from pool.models.alerting.rules import AlertRule
from pool.models.workloads import Workload
from pool.rules.alerting.machine import FLAP_S, Timing, Turn, Watch, look_at, slower, step
from pool.rules.alerting.metrics import METRICS, RAW_ONLY, Source
from pool.rules.alerting.terms import Aggregate
from pool.selectors.alerting.measure import grown_stepped, statement_of

STEPS = 336
"""So many looks at most over the whole span: a week by half-hours."""

RAW_DAYS = 1
"""Metrics that are not condensed are looked at over a day."""

PATIENCE_MS = 8000
MOST_ROWS = 400_000


@dataclass(frozen=True, slots=True)
class Firing:
    """One alert that would have been; `until` None: it would still fire."""

    subject: str
    name: str
    since: datetime
    until: datetime | None
    worst: float


@dataclass(frozen=True, slots=True)
class BackTest:
    """The answer. `refused` says why there is none: not_kept, or too_much. Steps in seconds."""

    since: datetime
    until: datetime
    step_s: int
    firings: tuple[Firing, ...] = ()
    things: int = 0
    refused: str = ""


def back_test(*, rule: AlertRule, days: int, at: datetime) -> BackTest:
    """Judge the stored numbers of the last `days` days, window after window, as the live rule does.

    Windows lie end to end; with long spans they are longer than the rule's own (`step_s`).
    """
    source = METRICS[rule.metric].source
    if rule.metric in RAW_ONLY:
        days = min(days, RAW_DAYS)
    since = at - timedelta(days=days)
    wide = max(rule.window_seconds, days * 86_400 // STEPS, 60)
    if source is Source.WAITS:
        return BackTest(since, at, 0, tuple(_waited(rule, since, at)))
    if source is not Source.SAMPLES:
        return BackTest(since, at, wide, refused="not_kept")
    try:
        rows = _rows(rule, since, at, wide)
    except OperationalError:
        return BackTest(since, at, wide, refused="too_much")
    by: dict[str, list[Any]] = {}
    for moment, subject, name, value in rows:
        by.setdefault(subject, []).append((moment, name, value))
    firings: list[Firing] = []
    for subject, points in sorted(by.items()):
        firings += _judged(rule, subject, points, wide)
    return BackTest(since, at, wide, tuple(firings), len(by))


def _rows(rule: AlertRule, since: datetime, at: datetime, wide: int) -> list[Any]:
    if rule.aggregate == Aggregate.INCREASE:
        return [row[:4] for row in grown_stepped(since=since, at=at, step_s=wide)]
    statement = statement_of(rule, stepped=True, window_s=max(rule.window_seconds, wide))
    words: dict[str, Any] = {
        "since": since,
        "at": at,
        "window": wide,
        "least": 0.5,
        "step": f"{wide} seconds",
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = {PATIENCE_MS}")
        cursor.execute(f"{statement} ORDER BY 1 LIMIT {MOST_ROWS}", words)
        rows = [(m, s, n, None if v is None else float(v)) for m, s, n, v, _p in cursor.fetchall()]
        cursor.execute("SET LOCAL statement_timeout = 0")
    return rows


def _judged(rule: AlertRule, subject: str, points: Iterable[Any], wide: int) -> list[Firing]:
    """The pure machine over the numbers of one thing, with its slower end for who flaps."""
    plain = Timing(rule.for_seconds, rule.clear_seconds)
    found: list[Firing] = []
    watch, since, worst, name = Watch(), None, 0.0, ""
    for start, name, value in points:
        end = start + timedelta(seconds=wide)
        look = look_at(value, side=rule.side, threshold=rule.threshold, clear=rule.clear_threshold)
        lately = end - timedelta(seconds=FLAP_S)
        flaps = sum(one.since > lately for one in found)
        watch, turn = step(slower(plain, flaps), watch, look, end.timestamp())
        if turn is Turn.FIRE:
            since, worst = end, value
        elif turn is Turn.RESOLVE and since is not None:
            found.append(Firing(subject, name, since, end, worst))
            since = None
        elif since is not None and value is not None:
            worst = max(worst, value) if rule.side == "above" else min(worst, value)
    if since is not None:
        found.append(Firing(subject, name, since, None, worst))
    return found


def _waited(rule: AlertRule, since: datetime, at: datetime) -> list[Firing]:
    """Long waits of the past, those that overlap as one: of each team, or of the whole pool."""
    order = ("project", "queued_at") if rule.scope == "project" else ("queued_at",)
    limit = timedelta(seconds=rule.threshold)
    ended = Coalesce("started_at", "ended_at", at)
    rows = (
        Workload.objects.filter(Q(started_at=None) | Q(started_at__gte=since), queued_at__lte=at)
        .annotate(left=ended)
        .filter(left__gte=since, left__gt=F("queued_at") + limit)
        .order_by(*order, "pk")
        .values_list("project__uid", "project__name", "queued_at", "left")
    )
    found: list[Firing] = []
    waits: list[tuple[str, str, datetime, datetime]] = list(rows[:MOST_ROWS])  # type: ignore[arg-type]
    for uid, name, queued, left in waits:
        subject = f"project:{uid}" if rule.scope == "project" else "pool:all"
        start, wait = queued + limit, (left - queued).total_seconds()
        last = found[-1] if found and found[-1].subject == subject else None
        if last is not None and (last.until or at) >= start:
            until = max(last.until or at, left)
            found[-1] = Firing(subject, name, last.since, until, max(last.worst, wait))
        else:
            found.append(Firing(subject, name, start, left, wait))
    return found
