"""Cards on which workloads took each other down: marked and told to people."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils.translation import gettext as _

from nodeagent.protocol.vocabulary import UNISOLATED, ExitReason
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.cards import Card
from pool.models.placements import Hold, Placement
from pool.models.workloads import Attempt, Workload
from pool.services.alerts import alert_raise

TOGETHER = timedelta(seconds=6)
"""Ends in the books within this belong together: twice what the node allows, for its clock."""

_BADLY = (ExitReason.NEIGHBOUR, ExitReason.OWN_ERROR, ExitReason.KILLED)


def among_own(
    *, placement: Placement, workload: Workload, told: Collection[str], ended_at: datetime
) -> bool:
    """Whether all that ended together with it, as far as the books know, are its owner's own.

    `told` are the attempts of which the node says the same now. Who shares a card with nobody else
    has no neighbour to blame: such work is charged and uses its retries as any other.
    """
    cards = placement.holds.filter(isolation__in=UNISOLATED, slice__isnull=False).values("card")
    beside = Hold.objects.filter(card__in=cards, isolation__in=UNISOLATED, slice__isnull=False)
    others = Attempt.objects.filter(pk__in=beside.values("placement__attempt"))
    span = (ended_at - TOGETHER, ended_at + TOGETHER)
    ended = Q(ended_at__range=span, exit_reason__in=_BADLY)
    mates = others.filter(ended | Q(uid__in=told)).exclude(workload=workload)
    owners = set(mates.values_list("workload__owner", "workload__project").distinct())
    return owners == {(workload.owner_id, workload.project_id)}


def cards_struck(*, placement: Placement, workload: Workload, actor: Actor) -> None:
    """Note on each card that this workload shared without a wall that it ended with neighbours.

    Call it in the transaction that ends its attempt. One alert a card stands for all of them.
    """
    shared = placement.holds.filter(isolation__in=UNISOLATED, slice__isnull=False)
    cards = Card.objects.filter(pk__in=shared.values("card")).select_related("node")
    for card in cards.order_by("pk"):
        words = {"workload": workload.uid, "node": card.node.uid}
        record(EventKind.CARD_STRUCK, card, actor=actor, **words)
        alert_raise(
            key=f"neighbour:{card.uid}",
            subject=f"card:{card.uid}",
            title=_("Workloads on %(card)s of %(node)s ended within seconds of each other")
            % {"card": card.label, "node": card.node.name},
            detail={"card": card.label, "node": card.node.name},
            actor=actor,
        )
