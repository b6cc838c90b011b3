"""Hand what fired and what is over to its routes: once each, whatever raised it.

Level-triggered: an alert that nobody was told of is looked at again at every turn, so that a
silence that ends, or a process that died half-way, loses nothing.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q

from pool.lifecycle.alerts import AlertState
from pool.models.alerting.rules import AlertSilence
from pool.models.alerting.ways import AlertDelivery, AlertRoute
from pool.models.alerts import Alert
from pool.rules.alerting.routes import ALL_DAYS, Hours, Matcher, Told, due, silenced
from pool.rules.alerting.terms import Word
from pool.services.alerting.silences import silences_in_force
from pool.services.moves import locked
from pool.wake import Wake, wake

AT_ONCE = 500
"""So many are handed out in one transaction; the rest in the next turn."""

HOURS = "hours"


@transaction.atomic
def alerts_told(*, at: datetime) -> int:
    """Make the deliveries that are missing; how many were. Safe to repeat, or beside itself."""
    Alert.objects.filter(state=AlertState.RESOLVED, told_at=None, over_told_at=None).update(
        told_at=F("state_since"), over_told_at=F("state_since")
    )
    fired = _some(Q(state=AlertState.FIRING, told_at=None))
    over = _some(Q(state=AlertState.RESOLVED, over_told_at=None))
    if not fired and not over:
        return 0
    made = _fired(fired, at) + _over(over, at)
    if made:
        wake(Wake.ALERTS)
    return made


def told_of(row: Alert) -> Told:
    """What routes and silences look at."""
    return Told(row.family, row.severity, row.subject, row.rule_id, row.project_id)


def matcher_of(row: AlertSilence | AlertRoute) -> Matcher:
    """What a silence or route covers."""
    if isinstance(row, AlertSilence):
        return Matcher(row.family, row.severity, row.subject, row.rule_id, row.project_id)
    return Matcher(row.family, row.severity, project=row.project_id)


def hours_of(row: AlertRoute) -> Hours:
    """When it is open."""
    return Hours(
        frozenset(row.days) or ALL_DAYS,
        row.start_minute,
        row.end_minute,
        row.zone,
        frozenset(row.closed_dates),
    )


def _some(which: Q) -> list[Alert]:
    """The oldest of them, locked; what another process is at is left to it."""
    keys = list(Alert.objects.filter(which).order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
    return locked(Alert.objects.filter(which, pk__in=keys)) if keys else []


def _fired(rows: Sequence[Alert], at: datetime) -> int:
    """What is silenced stays untold until the silence is over."""
    silences = [matcher_of(one) for one in silences_in_force()] if rows else []
    loud = [row for row in rows if not silenced(told_of(row), silences)]
    routes = list(_routes()) if loud else []
    made = []
    for row in loud:
        made += _deliveries(row, routes, Word.FIRED, at)
    AlertDelivery.objects.bulk_create(made, ignore_conflicts=True)
    Alert.objects.filter(pk__in=[row.pk for row in loud]).update(told_at=at)
    return len(made)


def _deliveries(
    row: Alert, routes: Sequence[AlertRoute], word: Word, at: datetime
) -> list[AlertDelivery]:
    """One a channel, by the route that opens first."""
    first: dict[int, AlertDelivery] = {}
    for route in routes:
        if not matcher_of(route).matches(told_of(row)):
            continue
        when = due(hours_of(route), row.family, at)
        known = first.get(route.channel_id)
        if known is None or when < known.due_at:
            first[route.channel_id] = AlertDelivery(
                alert=row,
                channel_id=route.channel_id,
                route=route,
                word=word,
                due_at=when,
                waits_for=HOURS if when > at else "",
            )
    return list(first.values())


def _over(rows: Sequence[Alert], at: datetime) -> int:
    """Who heard the beginning hears the end; a beginning that never left is dropped with it."""
    keys = [row.pk for row in rows]
    waiting = AlertDelivery.objects.filter(
        alert__in=keys, word=Word.FIRED, sent_at=None, given_up_at=None, dropped_at=None
    )
    waiting.filter(claimed_at=None).update(dropped_at=at)
    heard = AlertDelivery.objects.filter(
        alert__in=keys, word=Word.FIRED, given_up_at=None, dropped_at=None
    ).select_related("alert", "route")
    made = [_ended(one, at) for one in heard.order_by("pk")]
    AlertDelivery.objects.bulk_create(made, ignore_conflicts=True)
    Alert.objects.filter(pk__in=keys).update(over_told_at=at)
    return len(made)


def _ended(fired: AlertDelivery, at: datetime) -> AlertDelivery:
    when = at if fired.route is None else due(hours_of(fired.route), fired.alert.family, at)
    return AlertDelivery(
        alert=fired.alert,
        channel_id=fired.channel_id,
        route=fired.route,
        word=Word.RESOLVED,
        due_at=when,
        waits_for=HOURS if when > at else "",
    )


def _routes() -> Sequence[AlertRoute]:
    rows = AlertRoute.objects.filter(enabled=True, channel__enabled=True)
    return list(rows.order_by("pk"))
