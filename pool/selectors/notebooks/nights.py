"""Wishes that a notebook be left alone for a night."""

from django.db.models import QuerySet

from pool.clock import now
from pool.models.notebooks.nights import NightKeep
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing


def night_list(*, standing: Standing) -> QuerySet[NightKeep]:
    """Those about work that the person may read, newest first."""
    rows = NightKeep.objects.filter(standing.sees("workload__project"))
    return rows.select_related("workload__project", "asked_by", "answered_by").order_by("-pk")


def night_open(*, workload: Workload) -> NightKeep | None:
    """The one that waits for an answer."""
    rows = NightKeep.objects.filter(workload=workload, answer="", until__gt=now())
    return rows.select_related("asked_by").first()
