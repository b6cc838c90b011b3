"""Alerts: raised once per condition, resolved when it is over."""

from datetime import timedelta
from typing import Any

from django.db import transaction

from pool.events import Actor
from pool.lifecycle.alerts import AlertState
from pool.models.alerts import Alert
from pool.models.workloads import Workload
from pool.rules.alerting.machine import FLAP_S
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
    """Fire an alert unless the same one is open; true when it is new.

    What is about work is its team's: the team's routes and silences cover it.
    """
    row, made = Alert.objects.exclude(state=AlertState.RESOLVED).get_or_create(
        key=key[:200],
        defaults={
            "subject": subject[:80],
            "title": title[:200],
            "detail": detail or {},
            "family": family,
            "severity": severity,
            "project_id": _project(subject),
        },
    )
    if made:
        changes = {"fired_at": row.first_seen_at, "flaps": _flaps(row)}
        told = {"key": key, "about": subject}
        move(row, AlertState.FIRING, actor=actor, changes=changes, told=told)
    return made


def _project(subject: str) -> int | None:
    """The team whose work it is about; None for the pool's own things."""
    noun, _colon, uid = subject.partition(":")
    if noun != "workload":
        return None
    return Workload.objects.filter(uid=uid).values_list("project_id", flat=True).first()


def _flaps(row: Alert) -> int:
    """How often the same condition fired within the hour before."""
    since = row.first_seen_at - timedelta(seconds=FLAP_S)
    return Alert.objects.filter(key=row.key, fired_at__gt=since).count()


@transaction.atomic
def alert_resolve(*, key: str, actor: Actor, reason: str = "") -> bool:
    """Resolve the open alert of this condition; false when there is none."""
    rows = locked(Alert.objects.filter(key=key[:200]).exclude(state=AlertState.RESOLVED))
    for row in rows:
        move(row, AlertState.RESOLVED, actor=actor, reason=reason, told={"key": key})
    return bool(rows)
