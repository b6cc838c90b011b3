"""Workloads with what a row or a page shows of them."""

from django.db.models import Prefetch, QuerySet

from pool.lifecycle.workloads import ENDED, HOLDING, WAITING
from pool.models.placements import Hold
from pool.models.ranks import Rank
from pool.models.workloads import Attempt, Workload
from pool.selectors.memberships import Standing

GROUPS = {"waiting": WAITING, "running": HOLDING, "ended": ENDED}
"""What people call the states of a workload when they filter a list."""


def workload_list(*, standing: Standing) -> QuerySet[Workload]:
    """Workloads of the projects the person may read, newest first; a row needs no further query."""
    return (
        Workload.objects.filter(standing.sees())
        .select_related(
            "project__organization", "owner", "template_version__template", "request", "lease"
        )
        .order_by("-pk")
    )


def workload_filter(
    rows: QuerySet[Workload], *, group: str = "", project: str = "", text: str = ""
) -> QuerySet[Workload]:
    """Narrow a list by group of states, project slug, and words in name or owner, or a uid."""
    if group in GROUPS:
        rows = rows.filter(state__in=sorted(GROUPS[group]))
    if project:
        rows = rows.filter(project__slug=project)
    if text:
        rows = (
            rows.filter(name_folded__contains=text.casefold())
            | rows.filter(owner__username__icontains=text)
            | rows.filter(uid=text)
        )
    return rows


def attempt_list(*, workload: Workload) -> QuerySet[Attempt]:
    """Every run of the workload, newest first, with what it held; five queries at any size."""
    holds = Hold.objects.select_related("slice", "card", "node").order_by("pk")
    return (
        Attempt.objects.filter(workload=workload)
        .select_related("node")
        .prefetch_related(
            "placements__partition",
            Prefetch("placements__holds", queryset=holds),
            Prefetch("ranks", queryset=Rank.objects.select_related("node").order_by("rank")),
        )
        .order_by("-number")
    )
