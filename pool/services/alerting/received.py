"""Alerts that another Alertmanager hands in: begun and ended by their fingerprint."""

from collections.abc import Iterable, Mapping
from typing import Any

from pool.events import Actor
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.rules.alerting.terms import Family, Severity
from pool.services.alerts import alert_raise, alert_resolve

PREFIX = "alertmanager:"
_SEVERITIES = {"critical": "critical", "page": "critical", "error": "critical", "info": "info"}


def alerts_received(*, alerts: Iterable[Mapping[str, Any]], actor: Actor) -> tuple[int, int]:
    """Take them in; how many began and how many ended. Safe to repeat."""
    began = ended = 0
    for one in alerts:
        labels = {str(k): str(v) for k, v in dict(one.get("labels") or {}).items()}
        key = f"{PREFIX}{one.get('fingerprint') or sorted(labels.items())}"[:200]
        if one.get("status") == "resolved":
            ended += alert_resolve(key=key, actor=actor, reason="alertmanager")
            continue
        notes = {str(k): str(v) for k, v in dict(one.get("annotations") or {}).items()}
        name = labels.get("alertname", "Alertmanager")
        family = labels.get("family", "")
        began += alert_raise(
            key=key,
            subject=_subject(labels),
            title=f"{name}: {notes.get('summary') or notes.get('description') or ''}".strip(": "),
            detail={"labels": labels, "annotations": notes},
            family=family if family in set(Family) else Family.HARDWARE.value,
            severity=_severity(labels.get("severity", "")),
            actor=actor,
        )
    return began, ended


def _severity(said: str) -> str:
    return _SEVERITIES.get(said.lower(), Severity.WARNING.value)


def _subject(labels: Mapping[str, str]) -> str:
    """The card or node that the labels of dcgm-exporter or node-exporter name, else the pool."""
    uuid = labels.get("UUID") or labels.get("uuid")
    card = Card.objects.filter(uuid=uuid).first() if uuid else None
    if card is not None:
        return f"card:{card.uid}"
    named = labels.get("Hostname") or labels.get("node") or labels.get("instance", "")
    host = named.partition(":")[0]
    node = Node.objects.filter(name_folded=host.casefold()).first() if host else None
    return f"node:{node.uid}" if node is not None else "pool:outside"
