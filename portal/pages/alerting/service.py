"""Taking what an alert is about out of service, and bringing it back: cards and nodes."""

from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.events import Actor
from pool.lifecycle.cards import CardState
from pool.lifecycle.nodes import NodeState
from pool.models import Alert, Card, Node
from pool.services.cards import card_cordon, card_uncordon
from pool.services.nodes import node_cordon, node_uncordon

CORDON, UNCORDON = "cordon", "uncordon"
SERVICE = frozenset({CORDON, UNCORDON})
NEXT: dict[str, str] = {
    CardState.READY: CORDON,
    CardState.CORDONED: UNCORDON,
    NodeState.READY: CORDON,
    NodeState.CORDONED: UNCORDON,
}
"""What can be done to a card or node in that state."""


def about(alert: Alert) -> tuple[Card | None, Node | None]:
    """The card or the node that it is about."""
    noun, _colon, uid = alert.subject.partition(":")
    if noun == "card":
        return Card.objects.filter(uid=uid).select_related("node").first(), None
    return None, Node.objects.filter(uid=uid).first() if noun == "node" else None


def service_of(alert: Alert) -> str:
    """What may be done about it now; empty when nothing."""
    card, node = about(alert)
    row = card or node
    return "" if row is None else NEXT.get(row.state, "")


def service_act(*, alert: Alert, verb: str, reason: str, actor: Actor) -> str:
    """Do it; what was done, in words.

    Raises:
        Invalid: it is about neither card nor node, or nobody says why.
        IllegalMove: it is in no state for that.
    """
    card, node = about(alert)
    why = reason.replace("\0", "").strip()[:200]
    if verb == CORDON and not why:
        raise Invalid(reason=_("Say why: it is shown beside it."))
    if card is not None:
        (card_cordon if verb == CORDON else card_uncordon)(card=card, actor=actor, reason=why)
    elif node is not None:
        (node_cordon if verb == CORDON else node_uncordon)(node=node, actor=actor, reason=why)
    else:
        raise Invalid(verb=_("This is about neither a card nor a node."))
    if verb == CORDON:
        return _("Nothing new starts there.")
    return _("New work may start there again.")
