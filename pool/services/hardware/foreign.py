"""Work of people outside the pool on a card: kept by name, told of, and judged by its partition."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from pool.events import Actor
from pool.lifecycle.cards import CardState, ForeignWork
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.rules.partitions import CONTESTED, health_counted
from pool.services.alerts import alert_raise, alert_resolve
from pool.services.moves import locked, move
from pool.wake import round_wanted

MOST_NAMES = 40
STRANGERS = "slices nobody planned"
WORDS = "work that the pool did not start"
JUDGED = (CardState.READY, CardState.CONTESTED)
"""States between which foreign work alone moves a card."""


@transaction.atomic
def foreign_take(*, card: Card, foreign: Iterable[str], node: Node, actor: Actor) -> bool:
    """Keep whose processes a node told of on a card; true when that is news. A card whose partition
    wants it told has an alert of its own while they are there.
    """
    names = names_kept(foreign)
    if names == card.foreign:
        return False
    (row,) = locked(Card.objects.filter(pk=card.pk).select_related("partition"))
    row.foreign = names
    row.save(update_fields=["foreign"])
    _tell(row, node, actor)
    return True


def names_kept(foreign: Iterable[str]) -> list[str]:
    """What a node calls the strangers, as far as the books can keep it."""
    return [name.replace("\x00", "")[:160] for name in foreign][:MOST_NAMES]


@transaction.atomic
def foreign_judged(*, partition: Partition, actor: Actor) -> int:
    """Cards with foreign work follow what their partition now does about it; how many moved.

    Call it with the partition's row locked.
    """
    rows = Card.objects.filter(partition=partition).exclude(foreign=[]).select_related("node")
    moved = 0
    for row in locked(rows):
        row.partition = partition
        moved += _judge(row, partition, actor)
        _tell(row, row.node, actor)
    if moved:
        round_wanted()
    return moved


def _judge(row: Card, partition: Partition, actor: Actor) -> bool:
    """Between the two states that foreign work alone decides. Slices that nobody planned keep a
    card out whatever is chosen: their places are taken.
    """
    well = health_counted(CONTESTED, partition.foreign_work) != CONTESTED
    then = CardState.READY if well else CardState.CONTESTED
    if row.state not in JUDGED or row.state == then or row.state_reason == STRANGERS:
        return False
    told = {"node": row.node.uid, "foreign": row.foreign, "policy": partition.foreign_work}
    why = "" if well else f"{WORDS}: {', '.join(row.foreign)}"
    move(row, then, actor=actor, reason=why[:200], told=told)
    if well:
        alert_resolve(key=f"card:{row.uid}", actor=actor, reason=partition.foreign_work)
    else:
        _raise(f"card:{row.uid}", row, row.node, actor)
    return True


def _tell(card: Card, node: Node, actor: Actor) -> None:
    """Strangers on a card that is offered all the same have an alert of their own: what the card
    falls ill of meanwhile is another, and pages whoever has taken note of the first.
    """
    does = card.partition.foreign_work if card.partition is not None else ForeignWork.BLOCK
    key = f"foreign:{card.uid}"
    if card.foreign and does == ForeignWork.ALERT:
        _raise(key, card, node, actor)
    else:
        alert_resolve(key=key, actor=actor, reason=str(does))


def _raise(key: str, card: Card, node: Node, actor: Actor) -> None:
    does = card.partition.foreign_work if card.partition is not None else ForeignWork.BLOCK
    alert_raise(
        key=key,
        subject=f"card:{card.uid}",
        title=_("%(card)s of %(node)s: used from outside the pool")
        % {"card": card.label, "node": node.name},
        detail={"health": CONTESTED, "foreign": card.foreign, "policy": str(does)},
        actor=actor,
    )
