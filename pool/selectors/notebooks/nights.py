"""Wishes that a notebook be left alone for a night."""

from pool.clock import now
from pool.models.notebooks.nights import NightKeep
from pool.models.workloads import Workload


def night_open(*, workload: Workload) -> NightKeep | None:
    """The one that waits for an answer."""
    rows = NightKeep.objects.filter(workload=workload, answer="", until__gt=now())
    return rows.select_related("asked_by").first()
