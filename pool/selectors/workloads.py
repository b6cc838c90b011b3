"""Workloads with what a row or a page shows of them."""

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from pool.lifecycle.workloads import ENDED, HOLDING, WAITING, WorkloadState
from pool.models.placements import Hold
from pool.models.ranks import Rank
from pool.models.workloads import Attempt, Workload
from pool.selectors.memberships import Standing
from pool.selectors.users import people_like

GROUPS = {"waiting": WAITING, "running": HOLDING, "ended": ENDED}
"""What people call the states of a workload when they filter a list."""


def workload_list(*, standing: Standing) -> QuerySet[Workload]:
    """Workloads of the projects the person may read, newest first; a row needs no further query."""
    return (
        Workload.objects.filter(standing.sees())
        .select_related(
            "project__organization", "owner", "template_version__template", "request", "lease"
        )
        .select_related("environment")
        .order_by("-pk")
    )


def workload_tops(rows: QuerySet[Workload]) -> QuerySet[Workload]:
    """The rows without the pieces of arrays: each array stands for its own."""
    return rows.filter(parent=None)


def workload_filter(
    rows: QuerySet[Workload], *, group: str = "", project: str = "", text: str = ""
) -> QuerySet[Workload]:
    """Narrow a list by group of states, project slug, and words in name or owner, or a uid.

    An array is in every group in which one of its pieces is.
    """
    if group in GROUPS:
        pieces = Workload.objects.filter(parent=OuterRef("pk"), state__in=sorted(GROUPS[group]))
        arrays = Q(Exists(pieces), state=WorkloadState.ACTIVE)
        whole = Q(state__in=sorted(GROUPS[group]))
        rows = rows.filter(whole | arrays if group != "ended" else whole)
    if project:
        rows = rows.filter(project__slug=project)
    if text:
        rows = workload_search(rows, text)
    return rows


def workload_search(rows: QuerySet[Workload], text: str) -> QuerySet[Workload]:
    """Those with the text in their name or their owner's, or with that uid."""
    named = Q(name_folded__contains=text.casefold())
    people = people_like(text, rows, "owner")
    return rows.filter(named | Q(owner__in=people) | Q(uid=text))


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
