"""Cards as their nodes describe them: found, gone, ill, and well again."""

from collections.abc import Iterable
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from nodeagent.protocol.inventory import Card as CardFacts
from nodeagent.protocol.report import CardHealth
from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.cards import CARD, CardState
from pool.lifecycle.events import EventKind
from pool.lifecycle.nodes import NodeState
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.models.placements import Hold
from pool.rules.partitions import Traits, health_counted, matches
from pool.selectors.hardware.standing import cards_stand
from pool.services.alerts import alert_raise, alert_resolve
from pool.services.hardware.errors import CLEAN_PERIOD, RESET_NEEDED, errors_taken, fresh, ill_of
from pool.services.hardware.foreign import STRANGERS, foreign_take, names_kept
from pool.services.moves import locked, move
from pool.wake import round_wanted

HEALTH = {
    "ok": CardState.READY,
    "partial": CardState.PARTIAL,
    "silent": CardState.SILENT,
    "contested": CardState.CONTESTED,
    "lost": CardState.LOST,
    "reset_needed": CardState.CORDONED,
}
"""What a node says of a card, and the state the books give it."""

BY_NODE = frozenset(
    {CardState.READY, CardState.PARTIAL, CardState.SILENT, CardState.CONTESTED, CardState.LOST}
)
"""States that the node's word may end; a cordon by a person or an error waits for a person."""

GONE = frozenset({NodeState.LOST, NodeState.RETIRED})
"""States of a node whose cards may turn up elsewhere; one that is only silent is expected back."""

ILL = frozenset({CardState.CONTESTED, CardState.CORDONED, CardState.LOST, CardState.SILENT})
"""States of a card that a person should know of."""

BY_ERROR = frozenset({RESET_NEEDED, CLEAN_PERIOD})
"""Reasons of a cordon that no person gave."""


def cards_found(*, node: Node, found: Iterable[CardFacts], actor: Actor) -> list[str]:
    """Write the node's inventory by card uuid: new, changed, gone, back; warnings for people.

    Call it inside a transaction. A card that belongs to another living node stays there.
    """
    warnings: list[str] = []
    partitions = list(Partition.objects.order_by("rank", "slug"))
    told = {one.uuid: one for one in found}
    known = {row.uuid: row for row in locked(_with_partition(told))}
    for uuid, facts in sorted(told.items()):
        row = known.get(uuid)
        if row is None:
            _add(node, facts, partitions, actor)
        elif row.node_id != node.pk and not _may_move(row):
            warnings.append(f"card {uuid} belongs to another node")
        else:
            _update(row, node, facts, partitions, actor)
    for row in locked(Card.objects.filter(node=node).exclude(uuid__in=told)):
        if CARD.allows(CardState(row.state), CardState.LOST):
            move(row, CardState.LOST, actor=actor, reason="no longer in the node", told=_at(node))
    return warnings


def _with_partition(uuids: Iterable[str]) -> QuerySet[Card]:
    return Card.objects.filter(uuid__in=list(uuids)).select_related("partition", "node")


def _at(node: Node) -> dict[str, str]:
    return {"node": node.uid}


def _may_move(card: Card) -> bool:
    """A card is another node's only once its own has lost it or is gone, and nobody holds it."""
    away = card.state == CardState.LOST or card.node.state in GONE
    return away and not Hold.objects.filter(card=card, held__upper_inf=True).exists()


def _columns(facts: CardFacts) -> dict[str, object]:
    return {
        "index": facts.index,
        "vendor": facts.vendor,
        "model": facts.model,
        "label": facts.label,
        "nominal_gb": facts.nominal_gb,
        "memory_mib": facts.memory_mib,
        "modes": [str(mode) for mode in facts.modes],
        "domain": facts.domain or "",
        "numa": facts.numa,
        "strength": facts.strength,
        "tdp_w": facts.tdp_w,
        "facts": msgspec.to_builtins(facts),
    }


def _add(node: Node, facts: CardFacts, partitions: list[Partition], actor: Actor) -> None:
    row = Card.objects.create(
        uuid=facts.uuid,
        node=node,
        partition=_partition_of(node, facts, partitions, None),
        offered=not facts.display,
        **_columns(facts),
    )
    record(EventKind.CARD_FOUND, row, actor=actor, node=node.uid, label=row.label, uuid=row.uuid)


def _update(
    row: Card, node: Node, facts: CardFacts, partitions: list[Partition], actor: Actor
) -> None:
    """Only what changed is written, so that a shuffled repeat leaves no trace."""
    chosen = _partition_of(node, facts, partitions, row.partition)
    values = {**_columns(facts), "node_id": node.pk, "partition_id": chosen.pk if chosen else None}
    changed = {name: value for name, value in values.items() if getattr(row, name) != value}
    if changed:
        Card.objects.filter(pk=row.pk).update(**changed)
    gone = row.state == CardState.LOST and row.state_reason == "no longer in the node"
    if gone or row.state == CardState.SILENT:
        move(row, CardState.READY, actor=actor, reason="found again", told=_at(node))


def _partition_of(
    node: Node, facts: CardFacts, partitions: list[Partition], current: Partition | None
) -> Partition | None:
    """The partition whose selector takes the card; its present one while that still does."""
    traits = Traits(vendor=facts.vendor, label=facts.label, node=node.name, card=facts.uuid)
    if current is not None and matches(current.selector, traits):
        return current
    return next((one for one in partitions if matches(one.selector, traits)), None)


def cards_health(*, node: Node, told: Iterable[CardHealth], actor: Actor) -> bool:
    """Move cards to what the node says of their health; true when anything changed.

    A repeat changes nothing. A cordon is lifted by a person or by the end of its clean period; one
    that waits for a reset also by the node, once it says that the card is well.
    """
    by_uuid = {one.uuid: one for one in told}
    if not by_uuid or _settled(node, by_uuid):
        return False
    changed = False
    # The facts of a card are long, and nothing of them is asked here.
    rows = Card.objects.filter(node=node, uuid__in=by_uuid).select_related("partition")
    for row in rows.defer("facts"):
        one = by_uuid[row.uuid]
        if fresh(row, one):
            changed |= _err_card(row, one, node, actor)
        then = _then(row, one)
        if then is not None:
            changed |= _move_card(row, then, one, node, actor)
        changed |= foreign_take(card=row, foreign=one.foreign, node=node, actor=actor)
    return changed


def _settled(node: Node, told: dict[str, CardHealth]) -> bool:
    """Every card is what the node says of it, and nothing is new: so it is nearly always."""
    stand = cards_stand(node=node, uuids=told)
    return all(
        HEALTH.get(health_counted(told[uuid].health, one.foreign_work)) == one.state
        and names_kept(told[uuid].foreign) == one.foreign
        and all(error.seq <= one.errors_seen for error in told[uuid].errors)
        for uuid, one in stand.items()
    )


def _then(row: Card, one: CardHealth) -> CardState | None:
    """Where the node's word takes the card; None where it stays.

    A person's clearing stands: the word for an error that was taken before keeps no card out. What
    foreign work counts for is the partition's choice.
    """
    does = row.partition.foreign_work if row.partition is not None else None
    then = HEALTH.get(health_counted(one.health, does))
    cleared = one.health == RESET_NEEDED and bool(one.errors) and row.state != CardState.CORDONED
    if cleared:
        then = CardState.READY
    if then is None or row.state == then or row.state_reason == STRANGERS:
        return None
    well = then is CardState.READY and row.state == CardState.CORDONED
    if well and row.state_reason == RESET_NEEDED:
        return then
    if row.state not in BY_NODE or not CARD.allows(CardState(row.state), then):
        return None
    return then


@transaction.atomic
def _err_card(row: Card, one: CardHealth, node: Node, actor: Actor) -> bool:
    """Take the card's new errors; the row in hand follows."""
    (now_locked,) = locked(Card.objects.filter(pk=row.pk))
    errors = fresh(now_locked, one)
    if not errors:
        return False
    moved = errors_taken(row=now_locked, errors=errors, node_uid=node.uid, actor=actor)
    if moved:
        _tell(now_locked, node, one, actor)
        round_wanted()
    row.state, row.state_reason = now_locked.state, now_locked.state_reason
    return moved


@transaction.atomic
def _move_card(row: Card, then: CardState, one: CardHealth, node: Node, actor: Actor) -> bool:
    (now_locked,) = locked(Card.objects.filter(pk=row.pk))
    if now_locked.state != row.state:
        return False
    ill = then is CardState.CORDONED
    why = one.reason.replace("\x00", "")
    there = names_kept(one.foreign)
    told = {**_at(node), "foreign": there, "xids": list(one.xids), "why": why}
    move(
        now_locked,
        then,
        actor=actor,
        reason=RESET_NEEDED if ill else why or one.health,
        changes={"clean_until": None},
        told=told,
    )
    _tell(now_locked, node, one, actor)
    round_wanted()
    return True


def _ill_of(one: CardHealth) -> str:
    """The node's word; a card that answers well and is kept out for an error is ill of that."""
    return ill_of(one) if one.health == "ok" and one.errors else one.health


def _tell(row: Card, node: Node, one: CardHealth, actor: Actor) -> None:
    """One alert a card while it is ill, whatever it is ill of; it ends when the card is well."""
    key = f"card:{row.uid}"
    if row.state not in ILL:
        alert_resolve(key=key, actor=actor, reason=one.health)
        return
    alert_raise(
        key=key,
        subject=key,
        title=_("%(card)s of %(node)s: %(health)s")
        % {"card": row.label, "node": node.name, "health": _ill_of(one)},
        detail={
            "health": one.health,
            "reason": (one.reason or _ill_of(one)).replace("\x00", ""),
            "xids": list(one.xids),
            "foreign": names_kept(one.foreign),
        },
        actor=actor,
    )


@transaction.atomic
def cards_clean(*, actor: Actor) -> int:
    """Cards whose clean period is over are offered again; how many."""
    due = Card.objects.filter(state=CardState.CORDONED, clean_until__lte=now())
    rows = locked(due.select_related("node"))
    for row in rows:
        clean = {"clean_until": None}
        move(row, CardState.READY, actor=actor, reason="clean", changes=clean, told=_at(row.node))
        alert_resolve(key=f"card:{row.uid}", actor=actor, reason="clean")
    if rows:
        round_wanted()
    return len(rows)


@transaction.atomic
def card_cordon(*, card: Card, actor: Actor, reason: str) -> Card:
    """Nothing new starts on it until a person says so; what runs goes on. Safe to repeat."""
    (row,) = locked(Card.objects.filter(pk=card.pk).select_related("node"))
    if row.state == CardState.CORDONED and row.state_reason not in BY_ERROR:
        if reason and reason != row.state_reason:
            row.state_reason = reason[:200]
            row.save(update_fields=["state_reason"])
            same: dict[str, Any] = {"from": row.state, "to": row.state, "reason": reason}
            record(EventKind.CARD_MOVED, row, actor=actor, **same | _at(row.node))
        return row
    if row.state == CardState.CORDONED:
        move(row, CardState.READY, actor=actor, told=_at(row.node))
    changes = {"clean_until": None}
    move(row, CardState.CORDONED, actor=actor, reason=reason, changes=changes, told=_at(row.node))
    return row


@transaction.atomic
def card_uncordon(*, card: Card, actor: Actor, reason: str = "") -> Card:
    """A person clears it: it is offered again at once. Safe to repeat."""
    (row,) = locked(Card.objects.filter(pk=card.pk).select_related("node"))
    if row.state == CardState.CORDONED:
        clean = {"clean_until": None}
        move(row, CardState.READY, actor=actor, reason=reason, changes=clean, told=_at(row.node))
        alert_resolve(key=f"card:{row.uid}", actor=actor, reason=reason)
        round_wanted()
    return row


@transaction.atomic
def card_strangers(*, card_id: int, there: bool, node: Node, actor: Actor) -> None:
    """Slices that the books never planned make a card contested; without them it is ready again."""
    (row,) = locked(Card.objects.filter(pk=card_id))
    if there and row.state == CardState.READY:
        move(row, CardState.CONTESTED, actor=actor, reason=STRANGERS, told=_at(node))
    elif not there and row.state == CardState.CONTESTED and row.state_reason == STRANGERS:
        move(row, CardState.READY, actor=actor, reason="they are gone", told=_at(node))
        round_wanted()
