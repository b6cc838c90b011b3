"""Slices of the pool. Everybody sees what is held; by whom, only in their own projects."""

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from pool.models.placements import Hold
from pool.models.slices import Slice
from pool.selectors.memberships import Standing


def slice_list(*, standing: Standing, gone: bool = False) -> QuerySet[Slice]:
    """Living slices, with `now_held`, and in `held_by` the uid of a workload that one may read."""
    open_holds = Hold.objects.filter(slice=OuterRef("pk"), held__upper_inf=True)
    named = open_holds.filter(standing.sees("placement__attempt__workload__project"))
    rows = Slice.objects.select_related("card__node").annotate(
        now_held=Exists(open_holds),
        held_by=Subquery(named.values("placement__attempt__workload__uid")[:1]),
    )
    return rows if gone else rows.filter(lived__upper_inf=True)
