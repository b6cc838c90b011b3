"""The number that a rule judges, for everything of its scope: one query, whatever the size."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from pool.models.alerting.rules import AlertRule
from pool.models.telemetry.rollups import PLACE, ROLLED
from pool.rules.alerting.metrics import (
    METRICS,
    MINUTE_LONGEST_S,
    RAW_LONGEST_S,
    Metric,
    Source,
)
from pool.rules.alerting.terms import Aggregate, Scope
from pool.selectors.alerting.books import books_measured

LEAST_KNOWN = 0.5
"""Below this share of the window the number is unknown, not small."""

THROTTLED = 0x8 | 0x20 | 0x40 | 0x80
"""NVIDIA's reasons that mean trouble: hardware slowdown, heat (twice), power brake. Of other
vendors any reason counts."""

_RAW = {name: (mean, peak) for name, mean, peak in ROLLED}


@dataclass(frozen=True, slots=True)
class Measured:
    """One thing and its number; None is unknown."""

    subject: str
    name: str
    value: float | None
    project: int | None = None


def measured(rule: AlertRule, at: datetime) -> dict[str, Measured]:
    """Everything of the rule's scope that was measured, by subject."""
    metric = METRICS[rule.metric]
    if metric.source is not Source.SAMPLES:
        rows: list[Any] = books_measured(metric=rule.metric, scope=rule.scope, at=at)
    elif rule.aggregate == Aggregate.INCREASE:
        rows = _grown(rule, at)
    else:
        rows = _read(rule, at)
    return {row[0]: Measured(*row) for row in rows}


_SUBJECT = {
    Scope.CARD: ("'card:' || c.uid", "n.name || ' · ' || c.index || ' · ' || c.label", "NULL"),
    Scope.NODE: ("'node:' || n.uid", "n.name", "NULL"),
    Scope.PARTITION: ("'partition:' || p.uid", "p.name", "NULL"),
    Scope.POOL: ("'pool:all'", "''", "NULL"),
    Scope.PROJECT: ("'project:' || j.uid", "j.name", "j.id"),
    Scope.WORKLOAD: ("'workload:' || w.uid", "w.name", "w.project_id"),
}
_PARTED = "JOIN pool_partition p ON p.id = c.partition_id "
_WORK = (
    "JOIN pool_attempt a ON a.id = s.attempt_id JOIN pool_workload w ON w.id = a.workload_id "
    "JOIN pool_project j ON j.id = w.project_id LEFT JOIN pool_slice sl ON sl.id = s.slice_id "
)


def _read(rule: AlertRule, at: datetime) -> list[Any]:
    """Readings of the window condensed to one number a thing."""
    since = at - timedelta(seconds=rule.window_seconds)
    words = {"since": since, "at": at, "window": rule.window_seconds, "least": LEAST_KNOWN}
    return _asked(statement_of(rule, stepped=False, window_s=rule.window_seconds), words)


def statement_of(rule: AlertRule, *, stepped: bool, window_s: int) -> str:
    """The statement for one window, or (`stepped`) for one after the other from %(since)s on.

    Names come from tables of this file alone. Columns: the start of the step if there are steps,
    subject, name, number, project.
    """
    metric = METRICS[rule.metric]
    subject, name, project = _SUBJECT[Scope(rule.scope)]
    ofwork = rule.scope in {Scope.PROJECT, Scope.WORKLOAD}
    number, seconds, table = _number(rule, metric, window_s)
    share = f"sum({seconds}) / count(DISTINCT s.card_id) / %(window)s"
    if rule.aggregate == Aggregate.LAST:
        share = f"CASE WHEN sum({seconds}) > 0 THEN 1 ELSE 0 END"
    bucket = "date_bin(%(step)s::interval, s.at, %(since)s::timestamptz), " if stepped else ""
    held = _held_by(stepped) if rule.held_only else ""
    statement = (
        f"SELECT {bucket}{subject}, {name}, "  # noqa: S608
        f"CASE WHEN {share} >= %(least)s THEN {number} END, {project} "
        f"FROM {table} s JOIN pool_card c ON c.id = s.card_id JOIN pool_node n ON n.id = c.node_id "
        f"{_PARTED if rule.scope == Scope.PARTITION else ''}{_WORK if ofwork else ''}"
        f"WHERE s.at >= %(since)s AND s.at <= %(at)s AND c.state <> 'retired' "
        f"AND s.slice_id IS {'NOT NULL' if ofwork else 'NULL'} {held}"
        f"GROUP BY {'1, 2, 3, 5' if stepped else '1, 2, 4'}"
    )
    return statement.replace("{memory}", "sl.memory_mib" if ofwork else "c.memory_mib")


def _held_by(stepped: bool) -> str:
    """Only while work holds the card: through the whole window, or then."""
    when = "h.held @> s.at" if stepped else "upper_inf(h.held) AND lower(h.held) <= %(since)s"
    return f"AND EXISTS (SELECT 1 FROM pool_hold h WHERE h.card_id = s.card_id AND {when}) "  # noqa: S608


def _number(rule: AlertRule, metric: Metric, window_s: int) -> tuple[str, str, str]:
    """The aggregate, the known seconds, the table: the finest whose rows are not too many."""
    if metric.column == "throttle":
        bits = f"(CASE WHEN c.vendor = 'nvidia' THEN s.throttle & {THROTTLED} ELSE s.throttle END)"
        value = f"(CASE WHEN s.throttle IS NULL THEN NULL WHEN {bits} <> 0 THEN 100.0 ELSE 0 END)"
        return _of_raw(rule, value, value)
    scale = {"": "", "memory": " * 100.0 / {memory}", "tdp": " * 100.0 / nullif(c.tdp_w, 0)"}
    factor = scale[metric.of]
    if window_s <= RAW_LONGEST_S:
        mean, peak = _RAW[metric.column]
        return _of_raw(rule, f"(s.{mean}{factor})", f"(greatest(s.{peak}, s.{mean}){factor})")
    place = PLACE[metric.column] + 1
    hourly = window_s > MINUTE_LONGEST_S
    mean, peak = f"(s.mean[{place}]{factor})", f"(s.peak[{place}]{factor})"
    p95 = f"(s.p95[{place}]{factor})" if hourly else mean
    known = f"s.known[{place}]"
    table = "pool_rollup_hour" if hourly else "pool_rollup_minute"
    return _condensed(rule, mean, peak, p95, known), known, table


def _of_raw(rule: AlertRule, mean: str, peak: str) -> tuple[str, str, str]:
    known = f"CASE WHEN {mean} IS NOT NULL THEN s.seconds ELSE 0 END"
    return _condensed(rule, mean, peak, mean, known), known, "pool_sample"


def _condensed(rule: AlertRule, mean: str, peak: str, p95: str, known: str) -> str:
    match Aggregate(rule.aggregate):
        case Aggregate.P95:
            return f"percentile_cont(0.95) WITHIN GROUP (ORDER BY {p95})"
        case Aggregate.MAX:
            return f"max({peak})"
        case Aggregate.MIN:
            return f"min({mean})"
        case Aggregate.LAST:
            return f"(array_agg({mean} ORDER BY s.at DESC) FILTER (WHERE {mean} IS NOT NULL))[1]"
    return f"sum({mean} * ({known})) / nullif(sum({known}), 0)"


_GROWN = """
WITH seen AS (
    SELECT card_id, at, ecc_corrected AS corrected, ecc_uncorrected AS uncorrected
    FROM pool_sample
    WHERE slice_id IS NULL AND at >= %(since)s AND at <= %(at)s
      AND (ecc_corrected IS NOT NULL OR ecc_uncorrected IS NOT NULL)
), late AS (
    SELECT card_id FROM seen GROUP BY card_id
    HAVING min(at) > %(since)s::timestamptz + interval '30 seconds'
), every AS (
    SELECT * FROM seen
    UNION ALL
    SELECT b.* FROM late, LATERAL (
        SELECT p.card_id, p.at, p.ecc_corrected, p.ecc_uncorrected FROM pool_sample p
        WHERE p.card_id = late.card_id AND p.slice_id IS NULL
          AND p.at < %(since)s AND p.at >= %(since)s::timestamptz - interval '7 days'
          AND (p.ecc_corrected IS NOT NULL OR p.ecc_uncorrected IS NOT NULL)
        ORDER BY p.at DESC LIMIT 1
    ) b
), steps AS (
    SELECT card_id, at, corrected, uncorrected,
           lag(corrected) OVER w AS corrected_before, lag(uncorrected) OVER w AS uncorrected_before
    FROM every WINDOW w AS (PARTITION BY card_id ORDER BY at)
), grown AS (
    SELECT card_id, {bucket} AS bucket,
           sum(CASE WHEN corrected_before IS NULL OR corrected IS NULL THEN 0
                    WHEN corrected >= corrected_before THEN corrected - corrected_before
                    ELSE corrected END
             + CASE WHEN uncorrected_before IS NULL OR uncorrected IS NULL THEN 0
                    WHEN uncorrected >= uncorrected_before THEN uncorrected - uncorrected_before
                    ELSE uncorrected END)::float AS more
    FROM steps WHERE at >= %(since)s GROUP BY 1, 2
)
SELECT {first}'card:' || c.uid, n.name || ' · ' || c.index || ' · ' || c.label, g.more, NULL
FROM grown g JOIN pool_card c ON c.id = g.card_id JOIN pool_node n ON n.id = c.node_id
WHERE c.state <> 'retired' ORDER BY g.bucket
"""
"""A card that was not heard of when the window began is held against its last reading before: what
it counted meanwhile is news, too. A counter that begins anew has counted what it says."""


def _grown(rule: AlertRule, at: datetime) -> list[Any]:
    """What the counters of errors grew by in the window."""
    since = at - timedelta(seconds=rule.window_seconds)
    return _asked(_GROWN.format(bucket="0", first=""), {"since": since, "at": at})


def grown_stepped(*, since: datetime, at: datetime, step_s: int) -> list[Any]:
    """The same window after window: start of the step, subject, name, number, project."""
    bucket = "date_bin(%(step)s::interval, at, %(since)s::timestamptz)"
    words: dict[str, Any] = {"since": since, "at": at, "step": f"{step_s} seconds"}
    with connection.cursor() as cursor:
        cursor.execute(_GROWN.format(bucket=bucket, first="g.bucket, "), words)
        return list(cursor.fetchall())


def _asked(statement: str, words: dict[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, words)
        return [
            (subject, name, None if value is None else float(value), project)
            for subject, name, value, project in cursor.fetchall()
        ]
