"""One condition of one rule: the row that stands for it is begun, fired and ended here alone."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from pool.events import SYSTEM
from pool.lifecycle.alerts import AlertState
from pool.models.alerting.rules import AlertRule
from pool.models.alerts import Alert
from pool.rules.alerting.machine import (
    FLAP_S,
    Look,
    Phase,
    Timing,
    Turn,
    Watch,
    look_at,
    slower,
    step,
)
from pool.services.moves import locked, move

SEEN_EVERY = timedelta(seconds=60)
"""The last number of an open alert is written at most so often."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look found of one thing. `over` says why it cannot be bad any more."""

    subject: str
    name: str
    value: float | None
    project: int | None = None
    over: str = ""


def key_of(rule: AlertRule, subject: str) -> str:
    """The key that keeps one condition to one open alert."""
    return f"rule:{rule.uid}:{subject}"


def condition_look(
    *, rule: AlertRule, seen: Seen, row: Alert | None, flaps: int, at: datetime
) -> Turn | None:
    """Take one look in; what it brought about. `flaps` counts firings within the hour."""
    timing = slower(Timing(rule.for_seconds, rule.clear_seconds), flaps)
    look = look_at(seen.value, side=rule.side, threshold=rule.threshold, clear=rule.clear_threshold)
    if seen.over:
        timing, look = Timing(0, 0), Look(False, True)
    watch, turn = step(timing, _watch(row), look, at.timestamp())
    if row is None and turn is None:
        return None
    if row is None:
        _begin(rule, seen, flaps, at, fires=turn is Turn.FIRE)
    elif turn is not None:
        _turn(row, turn, seen, at)
    else:
        _note(row, watch, seen, at)
    return turn


def condition_end(*, row: Alert, reason: str) -> None:
    """It is over for another reason than its number: the thing or the rule is gone."""
    with transaction.atomic():
        for one in locked(Alert.objects.filter(pk=row.pk).exclude(state=AlertState.RESOLVED)):
            move(one, AlertState.RESOLVED, actor=SYSTEM, reason=reason, told=_words(one))


def flaps_of(keys: list[str], at: datetime) -> dict[str, int]:
    """How often each condition has fired within the hour; one query."""
    since = at - timedelta(seconds=FLAP_S)
    found: dict[str, int] = {}
    rows = Alert.objects.filter(key__in=keys, fired_at__gt=since, state=AlertState.RESOLVED)
    for key in rows.values_list("key", flat=True):
        found[key] = found.get(key, 0) + 1
    return found


def _watch(row: Alert | None) -> Watch:
    if row is None:
        return Watch()
    if row.state == AlertState.PENDING:
        return Watch(Phase.PENDING, row.first_seen_at.timestamp())
    well = row.clear_since.timestamp() if row.clear_since else None
    return Watch(Phase.OPEN, row.state_since.timestamp(), well)


def _begin(rule: AlertRule, seen: Seen, flaps: int, at: datetime, *, fires: bool) -> None:
    with transaction.atomic():
        row, made = Alert.objects.exclude(state=AlertState.RESOLVED).get_or_create(
            key=key_of(rule, seen.subject),
            defaults={
                "family": rule.family,
                "severity": rule.severity,
                "subject": seen.subject,
                "title": f"{rule.name}: {seen.name}"[:200] if seen.name else rule.name,
                "detail": {"name": seen.name},
                "rule": rule,
                "project_id": seen.project,
                "value": seen.value,
                "threshold": rule.threshold,
                "last_seen_at": at,
                "flaps": flaps,
            },
        )
        if made and fires:
            changes = {"fired_at": max(at, row.first_seen_at)}
            move(row, AlertState.FIRING, actor=SYSTEM, changes=changes, told=_words(row))


def _turn(row: Alert, turn: Turn, seen: Seen, at: datetime) -> None:
    """Move on; somebody who was quicker leaves it to the next look."""
    then = AlertState.FIRING if turn is Turn.FIRE else AlertState.RESOLVED
    changes: dict[str, Any] = {"last_seen_at": at, "clear_since": None}
    if seen.value is not None:
        changes["value"] = seen.value
    if turn is Turn.FIRE:
        changes["fired_at"] = at
    with transaction.atomic():
        for one in locked(Alert.objects.filter(pk=row.pk, state=row.state)):
            move(one, then, actor=SYSTEM, reason=seen.over, changes=changes, told=_words(one))


def _note(row: Alert, watch: Watch, seen: Seen, at: datetime) -> None:
    well = (
        datetime.fromtimestamp(watch.well_since, tz=at.tzinfo)
        if watch.phase is Phase.OPEN and watch.well_since is not None
        else None
    )
    stale = row.last_seen_at is None or at - row.last_seen_at >= SEEN_EVERY
    moved = (well is None) != (row.clear_since is None)
    if not (moved or (stale and seen.value is not None)):
        return
    changes: dict[str, Any] = {"clear_since": well}
    if seen.value is not None:
        changes |= {"value": seen.value, "last_seen_at": at}
    Alert.objects.filter(pk=row.pk).exclude(state=AlertState.RESOLVED).update(**changes)


def _words(row: Alert) -> dict[str, Any]:
    return {"key": row.key, "about": row.subject}
