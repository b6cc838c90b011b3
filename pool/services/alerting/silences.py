"""Silences: nothing leaves the house for a while, and everybody sees why."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from pool.clock import now
from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.alerting.rules import AlertRule, AlertSilence
from pool.models.tenants import Project
from pool.rules.problems import marked as _
from pool.services.moves import locked

LONGEST = timedelta(days=90)


@transaction.atomic
def silence_make(
    *,
    ends_at: datetime,
    reason: str,
    actor: Actor,
    rule: AlertRule | None = None,
    subject: str = "",
    family: str = "",
    severity: str = "",
    project: Project | None = None,
) -> AlertSilence:
    """Keep matching alerts in the house until the end. Empty parts match everything.

    Raises:
        Invalid: no reason, no end within 90 days, or nothing is named.
    """
    at, said = now(), reason.strip()[:400]
    wrong = {}
    if not said:
        wrong["reason"] = _("Say why.")
    if not at < ends_at <= at + LONGEST:
        wrong["ends_at"] = _("An end within 90 days from now is needed.")
    if rule is None and project is None and not (subject or family or severity):
        wrong["subject"] = _("Name at least one thing that is silenced.")
    if wrong:
        raise Invalid(**wrong)
    row = AlertSilence.objects.create(
        rule=rule,
        subject=subject[:80],
        family=family,
        severity=severity,
        project=project,
        ends_at=ends_at,
        reason=said,
        by_label=actor.label[:160],
    )
    words: dict[str, Any] = {
        "about": subject,
        "family": family,
        "severity": severity,
        "reason": said,
    }
    until = ends_at.isoformat()
    record(EventKind.ALERT_SILENCED, row, actor=actor, until=until, **_named(row, words))
    return row


@transaction.atomic
def silence_end(*, silence: AlertSilence, actor: Actor) -> AlertSilence:
    """From now on words go out again; alerts that still fire are told now. Safe to repeat."""
    (row,) = locked(AlertSilence.objects.filter(pk=silence.pk))
    if row.ended_at is None and row.ends_at > now():
        row.ended_at = now()
        row.save(update_fields=["ended_at"])
        record(EventKind.ALERT_SILENCED, row, actor=actor, ended=True)
    return row


def silences_in_force() -> QuerySet[AlertSilence]:
    """Those that hold now."""
    return AlertSilence.objects.filter(Q(ended_at=None), ends_at__gt=now())


def _named(row: AlertSilence, words: dict[str, Any]) -> dict[str, Any]:
    named = {name: value for name, value in words.items() if value}
    if row.rule is not None:
        named["rule"] = row.rule.slug
    return named
