"""Placements of work that a person may read."""

from django.db.models import Prefetch, QuerySet

from pool.models.placements import Hold, Placement
from pool.selectors.memberships import Standing


def placement_list(*, standing: Standing) -> QuerySet[Placement]:
    """With holds, slices, cards and nodes, in two queries a page."""
    holds = Hold.objects.select_related("slice", "card", "node").order_by("pk")
    return (
        Placement.objects.filter(standing.sees("attempt__workload__project"))
        .select_related("attempt__workload__project", "partition")
        .prefetch_related(Prefetch("holds", queryset=holds))
        .order_by("-pk")
    )
