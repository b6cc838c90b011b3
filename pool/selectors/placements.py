"""Placements of work that a person may read."""

from django.db.models import Prefetch, QuerySet

from pool.models.placements import Hold, Placement
from pool.models.ranks import Rank
from pool.selectors.memberships import Standing


def placement_list(*, standing: Standing) -> QuerySet[Placement]:
    """With holds, slices, cards, nodes and the ranks of gangs, in three queries a page."""
    holds = Hold.objects.select_related("slice", "card", "node").order_by("pk")
    return (
        Placement.objects.filter(standing.sees("attempt__workload__project"))
        .select_related("attempt__workload__project", "partition")
        .prefetch_related(
            Prefetch("holds", queryset=holds),
            Prefetch("attempt__ranks", queryset=Rank.objects.select_related("node")),
        )
        .order_by("-pk")
    )
