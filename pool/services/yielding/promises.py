"""Room kept for one workload: on cards, or on nodes for work that needs no card."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q

from pool.clock import now
from pool.errors import Stale
from pool.lifecycle.workloads import WorkloadState
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.placements import Promise
from pool.models.workloads import Workload
from pool.services.moves import locked


def promise_keep(
    *, workload: Workload, until: datetime, cards: Iterable[int] = (), nodes: Iterable[int] = ()
) -> None:
    """Keep the room for this workload until then; nobody else is started there meanwhile.

    Call it in a transaction that holds the workload's lock; cards and nodes are locked here.

    Raises:
        Stale: some of it is kept for another workload that waits.
    """
    wanted, places = sorted(set(cards)), sorted(set(nodes))
    room_locked(cards=wanted, nodes=places)
    theirs = promises_of_others(workload=workload, cards=wanted, nodes=places)
    if theirs:
        raise Stale(workload=workload.uid, why="the room is kept for another")
    for card in wanted:
        words = {"workload": workload, "until": until}
        Promise.objects.update_or_create(card_id=card, defaults=words)
    for node in places:
        words = {"workload": workload, "until": until}
        Promise.objects.update_or_create(node_id=node, defaults=words)


def room_locked(*, cards: Iterable[int] = (), nodes: Iterable[int] = ()) -> list[Node]:
    """Lock cards, then nodes, each by id, before anything there is changed; the nodes."""
    locked(Card.objects.filter(pk__in=sorted(set(cards))))
    return locked(Node.objects.filter(pk__in=sorted(set(nodes))))


def promises_of_others(
    *, workload: Workload, cards: Iterable[int] = (), nodes: Iterable[int] = ()
) -> bool:
    """Whether any of this room is kept for another workload that still waits for it."""
    here = Q(card__in=list(cards)) | Q(node__in=list(nodes))
    kept = Promise.objects.filter(
        here, until__gt=now(), workload__state=WorkloadState.QUEUED
    ).exclude(workload=workload)
    return kept.exists()
