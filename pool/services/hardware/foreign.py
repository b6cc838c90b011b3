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
WORDS = "work that the pool did not start"
JUDGED = (CardState.READY, CardState.CONTESTED)
"""States between which foreign work alone moves a card."""


@transaction.atomic
def foreign_take(*, card: Card, foreign: Iterable[str], node: Node, actor: Actor) -> bool:
    """Keep whose processes a node told of on a card; true when that is news. An offered card whose
    partition wants it told has its alert while they are there.
    """
    names = names_kept(foreign)
    if names == card.foreign:
        return False
    (row,) = locked(Card.objects.filter(pk=card.pk).select_related("partition"))
    row.foreign = names
    row.save(update_fields=["foreign"])
    if row.state == CardState.READY:
        _tell(row, node, actor)
    return True


def names_kept(foreign: Iterable[str]) -> list[str]:
    """What a node calls the strangers, as far as the books can keep it."""
    return [name.replace("\x00", "")[:160] for name in foreign][:MOST_NAMES]


def is_told(card: Card) -> bool:
    """Whether the card has an alert though it is offered: strangers are on it, and that is told."""
    does = card.partition.foreign_work if card.partition is not None else ForeignWork.BLOCK
    return bool(card.foreign) and does == ForeignWork.ALERT


@transaction.atomic
def foreign_judged(*, partition: Partition, actor: Actor) -> int:
    """Cards with foreign work follow what their partition now does about it; how many moved.

    Call it with the partition's row locked.
    """
    rows = Card.objects.filter(partition=partition, state__in=JUDGED).exclude(foreign=[])
    moved = 0
    for row in locked(rows.select_related("node")):
        well = health_counted(CONTESTED, partition.foreign_work) != CONTESTED
        then = CardState.READY if well else CardState.CONTESTED
        row.partition = partition
        if row.state != then:
            told = {"node": row.node.uid, "foreign": row.foreign, "policy": partition.foreign_work}
            why = "" if well else f"{WORDS}: {', '.join(row.foreign)}"
            move(row, then, actor=actor, reason=why[:200], told=told)
            moved += 1
        _tell(row, row.node, actor)
    if moved:
        round_wanted()
    return moved


def _tell(card: Card, node: Node, actor: Actor) -> None:
    """One alert a card, the same as for all else that it may be ill of."""
    does = card.partition.foreign_work if card.partition is not None else ForeignWork.BLOCK
    key = f"card:{card.uid}"
    if not card.foreign or does == ForeignWork.TOLERATE:
        alert_resolve(key=key, actor=actor, reason="nothing to tell of foreign work")
        return
    alert_raise(
        key=key,
        subject=key,
        title=_("%(card)s of %(node)s: used from outside the pool")
        % {"card": card.label, "node": node.name},
        detail={"health": CONTESTED, "foreign": card.foreign, "policy": str(does)},
        actor=actor,
    )
