"""Alerts: raised once per condition, resolved when it is over."""

from typing import Any

from django.db import transaction

from pool.events import Actor
from pool.lifecycle.alerts import AlertState
from pool.models.alerts import Alert
from pool.services.moves import locked, move


@transaction.atomic
def alert_raise(
    *,
    key: str,
    subject: str,
    title: str,
    actor: Actor,
    detail: dict[str, Any] | None = None,
    family: str = "hardware",
    severity: str = "warning",
) -> bool:
    """Fire an alert unless the same one is open; true when it is new."""
    row, made = Alert.objects.exclude(state=AlertState.RESOLVED).get_or_create(
        key=key[:200],
        defaults={
            "subject": subject[:80],
            "title": title[:200],
            "detail": detail or {},
            "family": family,
            "severity": severity,
        },
    )
    if made:
        move(row, AlertState.FIRING, actor=actor, told={"key": key, "about": subject})
    return made


@transaction.atomic
def alert_resolve(*, key: str, actor: Actor, reason: str = "") -> bool:
    """Resolve the open alert of this condition; false when there is none."""
    rows = locked(Alert.objects.filter(key=key[:200]).exclude(state=AlertState.RESOLVED))
    for row in rows:
        move(row, AlertState.RESOLVED, actor=actor, reason=reason, told={"key": key})
    return bool(rows)


@transaction.atomic
def alert_acknowledge(*, alert: Alert, actor: Actor, reason: str = "") -> Alert:
    """A person has seen it and takes care of it. Safe to repeat."""
    (row,) = locked(Alert.objects.filter(pk=alert.pk))
    if row.state != AlertState.ACKNOWLEDGED:
        move(row, AlertState.ACKNOWLEDGED, actor=actor, reason=reason)
    return row
