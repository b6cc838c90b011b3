"""Alerts of the month: what the pool's own rules say of its readings and waits."""

from datetime import datetime, timedelta

from pool.lifecycle.alerts import AlertState
from pool.models import Alert, Project
from pool.models.alerting.rules import AlertRule
from pool.models.ids import new_uid
from pool.selectors.alerting.backtest import Firing, back_test
from pool.services.alerting.conditions import key_of
from pool.services.alerting.rules import rules_there
from portal.demo.plan import DemoPlan
from portal.demo.rows import written

LONGEST_DAYS = 28
MOST = 60
"""So many alerts of one rule are kept, the newest ones: one word for a whole month is enough."""


def alerts_written(plan: DemoPlan) -> int:
    """One alert for each time that a rule in force would have fired; how many.

    What would still fire stays open: the live rules go on with it.
    """
    rules_there()
    teams = {f"project:{one.uid}": one.pk for one in Project.objects.all()}
    rows: list[Alert] = []
    for rule in AlertRule.objects.filter(enabled=True).order_by("pk"):
        found = back_test(rule=rule, days=min(plan.days, LONGEST_DAYS), at=plan.until)
        fired = sorted(found.firings, key=_since)[-MOST:]
        rows += [_alert(rule, one, plan, teams.get(one.subject)) for one in fired]
    rows.sort(key=_fired)
    return written(rows)


def _since(one: Firing) -> tuple[datetime, str]:
    return (one.since, one.subject)


def _fired(row: Alert) -> tuple[datetime, str]:
    return (row.first_seen_at, row.key)


def _alert(rule: AlertRule, one: Firing, plan: DemoPlan, team: int | None) -> Alert:
    over = one.until is not None
    return Alert(
        uid=new_uid("al"),
        key=key_of(rule, one.subject),
        family=rule.family,
        severity=rule.severity,
        subject=one.subject,
        title=f"{rule.name}: {one.name}"[:200] if one.name else rule.name,
        detail={"name": one.name},
        state=AlertState.RESOLVED if over else AlertState.FIRING,
        state_since=one.until or one.since,
        first_seen_at=one.since - timedelta(seconds=rule.for_seconds),
        rule=rule,
        project_id=team,
        value=one.worst,
        threshold=rule.threshold,
        fired_at=one.since,
        last_seen_at=one.until or plan.until,
        told_at=one.since,
        over_told_at=one.until,
    )
