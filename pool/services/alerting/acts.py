"""What people do with an alert: take it, let it go again."""

from django.db import transaction

from pool.events import Actor
from pool.lifecycle.alerts import AlertState
from pool.models.alerts import Alert
from pool.services.moves import locked, move


@transaction.atomic
def alert_take(*, alert: Alert, actor: Actor, note: str = "") -> Alert:
    """Somebody takes care of it. Safe to repeat.

    Raises:
        IllegalMove: it does not fire.
    """
    (row,) = locked(Alert.objects.filter(pk=alert.pk))
    if row.state != AlertState.ACKNOWLEDGED:
        changes = {"taken_by": actor.label[:160], "note": note.strip()[:400]}
        told = {"key": row.key, "about": row.subject}
        move(
            row, AlertState.ACKNOWLEDGED, actor=actor, reason=note[:200], changes=changes, told=told
        )
    return row


@transaction.atomic
def alert_let_go(*, alert: Alert, actor: Actor) -> Alert:
    """Nobody takes care of it any more: it fires as before. Safe to repeat.

    Raises:
        IllegalMove: it is over.
    """
    (row,) = locked(Alert.objects.filter(pk=alert.pk))
    if row.state != AlertState.FIRING:
        told = {"key": row.key, "about": row.subject}
        move(row, AlertState.FIRING, actor=actor, changes={"taken_by": "", "note": ""}, told=told)
    return row
