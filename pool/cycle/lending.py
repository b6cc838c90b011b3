"""Who borrows, as each round judges it anew: written on the open placements."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q

from pool.lifecycle.placements import PlacementState
from pool.models.placements import Placement
from pool.scheduling.model import Running
from pool.scheduling.outlook.borrowed import judge
from pool.services.moves import locked

__all__ = ["judge", "store"]


def store(running: Iterable[Running]) -> int:
    """Write on the open placements who borrows now; how many changed. What was opened since it was
    read keeps what its plan said.
    """
    seen = list(running)
    borrowed = [one.id for one in seen if one.borrowed]
    rows = Placement.objects.filter(
        state=PlacementState.OPEN, attempt__workload__in=[one.id for one in seen]
    )
    more = Q(entitled=True, attempt__workload__in=borrowed)
    less = Q(entitled=False) & ~Q(attempt__workload__in=borrowed)
    with transaction.atomic():  # locked in the order in which everybody locks placements
        found = locked(rows.filter(more | less))
        theirs = [row.pk for row in found if row.entitled]
        own = [row.pk for row in found if not row.entitled]
        Placement.objects.filter(pk__in=theirs).update(entitled=False)
        Placement.objects.filter(pk__in=own).update(entitled=True)
    return len(found)
