"""Look at every rule that is due: begin, fire and end alerts in a fixed number of queries."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.utils.translation import gettext as _

from pool.clock import now
from pool.cycle.round import only_one
from pool.lifecycle.alerts import AlertState
from pool.lifecycle.cards import CardState
from pool.lifecycle.nodes import NodeState
from pool.locks import ALERTS
from pool.models.alerting.rules import AlertRule
from pool.models.alerts import Alert
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.rules.alerting.machine import look_at
from pool.rules.alerting.metrics import METRICS, Source, every_s
from pool.rules.alerting.terms import Scope
from pool.selectors.alerting.measure import Measured, measured
from pool.services.alerting.conditions import (
    Seen,
    condition_end,
    condition_look,
    flaps_of,
    key_of,
)
from pool.services.alerting.rules import rules_there
from pool.sweeps import each

log = structlog.get_logger(__name__)


def rules_looked() -> int:
    """One look at each rule that is due; how many were. Beside itself it does nothing."""
    with only_one(ALERTS) as mine:
        if not mine:
            return 0
        rules_there()
        at = now()
        rules = [one for one in AlertRule.objects.filter(enabled=True) if _due(one, at)]
        for rule in rules:
            _guarded(rule, at)
        _orphans()
    return len(rules)


def _due(rule: AlertRule, at: datetime) -> bool:
    every = timedelta(seconds=every_s(rule.window_seconds))
    return rule.looked_at is None or not at - every < rule.looked_at <= at


def _guarded(rule: AlertRule, at: datetime) -> None:
    """A rule that cannot be looked at keeps no other from its look."""
    try:
        with transaction.atomic():
            rule_look(rule, at)
    except Exception as broken:
        log.exception("alert.rule_failed", rule=rule.uid, reason=repr(broken))
    AlertRule.objects.filter(pk=rule.pk).update(looked_at=at)


def rule_look(rule: AlertRule, at: datetime) -> None:
    """One look at one rule: everything that is bad, and everything that is open."""
    found = measured(rule, at)
    rows = {
        row.subject: row
        for row in Alert.objects.filter(rule=rule).exclude(state=AlertState.RESOLVED)
    }
    wrong = {subject for subject, one in found.items() if _bad(rule, one)}
    subjects = sorted(wrong | rows.keys())
    flaps = flaps_of([key_of(rule, one) for one in subjects], at) if subjects else {}
    there = _there(rows.keys() - found.keys())
    for subject in subjects:
        condition_look(
            rule=rule,
            seen=_seen(rule, subject, found.get(subject), there, rows.get(subject)),
            row=rows.get(subject),
            flaps=flaps.get(key_of(rule, subject), 0),
            at=at,
        )


def _bad(rule: AlertRule, one: Measured) -> bool:
    look = look_at(one.value, side=rule.side, threshold=rule.threshold, clear=rule.clear_threshold)
    return bool(look.bad)


def _seen(
    rule: AlertRule, subject: str, one: Measured | None, there: set[str], row: Alert | None
) -> Seen:
    """What was measured; or why what was not measured is over, else it is unknown."""
    if one is not None:
        return Seen(subject, one.name, one.value, one.project)
    name = str(row.detail.get("name", "")) if row is not None else ""
    return Seen(subject, name, None, over=_over(rule, subject, there))


def _over(rule: AlertRule, subject: str, there: set[str]) -> str:
    if METRICS[rule.metric].source is not Source.SAMPLES:
        return _("it is not there any more")
    if rule.scope in {Scope.WORKLOAD, Scope.PROJECT}:
        return _("nothing runs any more")
    if rule.scope in {Scope.CARD, Scope.NODE} and subject not in there:
        return _("it is out of service for good")
    if rule.held_only:
        return _("nothing holds it any more")
    return ""


def _there(subjects: Iterable[str]) -> set[str]:
    """Of cards and nodes that were not measured, those still in service; 0 to 2 queries."""
    uids: dict[str, list[str]] = {"card": [], "node": []}
    for subject in subjects:
        noun, _colon, uid = subject.partition(":")
        uids.get(noun, []).append(uid)
    found = set()
    if uids["card"]:
        rows = Card.objects.filter(uid__in=uids["card"]).exclude(state=CardState.RETIRED)
        found |= {f"card:{uid}" for uid in rows.values_list("uid", flat=True)}
    if uids["node"]:
        nodes = Node.objects.filter(uid__in=uids["node"]).exclude(state=NodeState.RETIRED)
        found |= {f"node:{uid}" for uid in nodes.values_list("uid", flat=True)}
    return found


def _orphans() -> None:
    """Open alerts whose rule is off or gone."""
    open_rows = Alert.objects.filter(key__startswith="rule:").exclude(state=AlertState.RESOLVED)
    why = _("its rule is off")
    rows = open_rows.exclude(rule__enabled=True)
    each(rows, lambda row: condition_end(row=row, reason=why), of="alerting.orphans")
