"""Bandwidth classes as they were learned, and what finished runs showed: for sweeps and people."""

from collections import defaultdict
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import BooleanField, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from pool.clock import now
from pool.models.telemetry.learned import LearnedBandwidth
from pool.models.telemetry.rollups import PLACE
from pool.models.templates import TemplateVersion
from pool.models.workloads import Workload
from pool.rules.learning.bandwidth import LEAST_KNOWN, NEWEST, Run

DAYS = 28
"""Runs that ended longer ago show nothing of today's work."""

Key = tuple[int, int | None]
"""A template's version, and whose work it is; None is everybody's."""

_AT = PLACE["bandwidth"] + 1
_RUNS = f"""
WITH run AS (
    SELECT w.template_version_id AS version, w.owner_id AS owner, a.id, a.ended_at,
           extract(epoch FROM a.ended_at - a.started_at)::float8 AS ran
    FROM pool_attempt a
    JOIN pool_workload w ON w.id = a.workload_id
    JOIN pool_templateversion v ON v.id = w.template_version_id
    WHERE v.bandwidth = 'measured' AND a.ended_at > %(since)s AND a.started_at < a.ended_at
), shown AS (
    SELECT run.version, run.owner, run.id, run.ended_at,
           (sum(h.mean[{_AT}] * h.known[{_AT}])
               / nullif(sum(h.known[{_AT}]), 0))::float8 AS percent,
           sum(h.known[{_AT}]) / (run.ran * count(DISTINCT (h.card_id, h.slice_id))) AS known
    FROM run JOIN pool_rollup_hour h ON h.attempt_id = run.id
    WHERE h.at > %(since)s - interval '1 hour'
    GROUP BY run.version, run.owner, run.id, run.ended_at, run.ran
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY version ORDER BY ended_at DESC, id DESC) AS of_all,
           row_number() OVER (PARTITION BY version, owner ORDER BY ended_at DESC, id DESC) AS of_one
    FROM shown WHERE percent IS NOT NULL AND known >= %(least)s
)
SELECT version, owner, percent, known FROM ranked
WHERE of_all <= %(newest)s OR of_one <= %(newest)s
ORDER BY ended_at DESC, id DESC
"""  # noqa: S608 - only a constant of this house
"""Runs of work whose class nobody declared: how active the memory was, how much is known."""


def runs_measured() -> dict[Key, list[Run]]:
    """What each version's runs of the last weeks showed, newest first; also by owner. One query.

    Only runs that count, and as many of them as are looked at, leave the database.
    """
    words: dict[str, Any] = {
        "since": now() - timedelta(days=DAYS),
        "least": LEAST_KNOWN,
        "newest": NEWEST,
    }
    found: dict[Key, list[Run]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_RUNS, words)
        for version, owner, percent, known in cursor.fetchall():
            run = Run(percent, min(1.0, known))
            found[version, owner].append(run)
            found[version, None].append(run)
    return dict(found)


def learned_heavy() -> Coalesce:
    """For workloads: whether their owner's work of that template, else everybody's, is heavy.

    False where nothing was learned; part of the caller's query.
    """
    rows = _nearest(OuterRef("owner"), OuterRef("template_version"))
    return Coalesce(Subquery(rows.values("heavy")[:1]), Value(False), output_field=BooleanField())


def bandwidth_of(*, workload: Workload) -> LearnedBandwidth | None:
    """What its class rests on: its owner's runs of that template, else everybody's.

    None where the class is declared, or too little was measured.
    """
    version = workload.template_version
    if version.bandwidth != "measured":
        return None
    return _nearest(workload.owner_id, version.pk).first()


def _nearest(owner: Any, version: Any) -> QuerySet[LearnedBandwidth]:
    rows = LearnedBandwidth.objects.filter(Q(owner=owner) | Q(owner=None), version=version)
    return rows.order_by(F("owner").asc(nulls_last=True))


def bandwidth_learned(*, version: TemplateVersion) -> LearnedBandwidth | None:
    """What everybody's work of this version showed; None where too little was measured."""
    return LearnedBandwidth.objects.filter(version=version, owner=None).first()
