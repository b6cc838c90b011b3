"""Versions of a template: what changed from one to the next, and what its work really used."""

from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any

from django.db import connection

from pool.clock import now
from pool.models.telemetry.learned import LearnedBandwidth
from pool.models.templates import Template, TemplateVersion
from pool.rules.policies import difference

DAYS = 28
SPARE = 1.15
"""A proposed size leaves so much above what nineteen in twenty runs peaked at."""

LEAST_RUNS = 5
"""Below so many measured runs nothing is proposed."""

_USED = """
SELECT w.template_version_id, count(*), count(a.peak_memory_mib),
  percentile_disc(0.95) WITHIN GROUP (ORDER BY a.peak_memory_mib),
  max(a.peak_memory_mib), percentile_disc(0.5) WITHIN GROUP (ORDER BY h.memory),
  coalesce(sum(h.card_s), 0)::float8,
  coalesce(sum(h.card_s * greatest(0, 1 - a.peak_memory_mib::float8 / nullif(h.memory, 0))), 0)
FROM pool_attempt a
JOIN pool_workload w ON w.id = a.workload_id
JOIN pool_templateversion v ON v.id = w.template_version_id
CROSS JOIN LATERAL (
  SELECT sum(o.memory_mib) AS memory,
    sum(o.equivalents_micro * extract(epoch FROM upper(o.held) - lower(o.held))) / 1e6 AS card_s
  FROM pool_placement p JOIN pool_hold o ON o.placement_id = p.id
  WHERE p.attempt_id = a.id AND o.slice_id IS NOT NULL AND NOT upper_inf(o.held)
) AS h
WHERE v.template_id = %(template)s AND a.ended_at > %(since)s AND h.memory > 0
GROUP BY 1
"""
_WORDS = (
    *("kind", "work_class", "need", "priority", "preemptible", "max_seconds", "default_seconds"),
    *("start_limit_seconds", "grace_seconds", "min_run_seconds", "idle_seconds"),
    *("checkpoint_seconds", "bandwidth", "min_profile_compute", "unlimited_modes"),
    *("price_class", "approval"),
)
"""Words of a version that are plain; its environment stands as its short name beside them."""


@dataclass(frozen=True, slots=True)
class Review:
    """What the runs of one version that ended in 28 days had and used; memory in MiB.

    `known` runs were measured; `wasted_card_s` is the part of their card-seconds whose memory
    nobody touched. `proposed_mib` is None where too few were measured, or nothing would be saved.
    """

    runs: int
    known: int
    p95_mib: int | None
    peak_mib: int | None
    had_mib: int | None
    card_s: float
    wasted_card_s: float

    @property
    def proposed_mib(self) -> int | None:
        """The size that would have done, in whole GiB; at least the greatest peak seen."""
        if self.known < LEAST_RUNS or not (self.p95_mib and self.peak_mib and self.had_mib):
            return None
        size = ceil(max(self.p95_mib * SPARE, self.peak_mib) / 1024) * 1024
        return size if size < self.had_mib else None


@dataclass(frozen=True, slots=True)
class Step:
    """One version, what it says otherwise than the one before, and how it was used."""

    version: TemplateVersion
    changed: dict[str, tuple[Any, Any]]
    review: Review | None = None
    learned: LearnedBandwidth | None = None


def version_words(version: TemplateVersion) -> dict[str, Any]:
    """What a version says, word by word."""
    inside = version.environment.slug if version.environment else ""
    return {name: getattr(version, name) for name in _WORDS} | {"environment": inside}


def template_steps(*, template: Template) -> list[Step]:
    """All versions, newest first; four queries."""
    rows = list(template.versions.select_related("environment").order_by("number"))
    used = _reviews(template)
    common = LearnedBandwidth.objects.filter(version__template=template, owner=None)
    shown = {one.version_id: one for one in common}
    steps: list[Step] = []
    before: dict[str, Any] = {}
    for row in rows:
        words = version_words(row)
        changed = difference(before, words) if before else {}
        steps.append(Step(row, changed, used.get(row.pk), shown.get(row.pk)))
        before = words
    return steps[::-1]


def _reviews(template: Template) -> dict[int, Review]:
    words: dict[str, Any] = {"template": template.pk, "since": now() - timedelta(days=DAYS)}
    with connection.cursor() as cursor:
        cursor.execute(_USED, words)
        return {row[0]: Review(*row[1:]) for row in cursor.fetchall()}
