"""Cards on which workloads took each other down: marked and told to people."""

from django.utils.translation import gettext as _

from nodeagent.protocol.vocabulary import UNISOLATED
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.cards import Card
from pool.models.placements import Placement
from pool.models.workloads import Workload
from pool.services.alerts import alert_raise


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
