"""Work past the time it declared, and training that saves nothing: told once, then an alert."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from pool.events import SYSTEM, record
from pool.lifecycle.alerts import AlertState
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import AttemptState, WorkloadState
from pool.models.alerts import Alert
from pool.models.workloads import Attempt
from pool.rules.yielding import TRAINING
from pool.selectors.calendar.policies import numbers_now
from pool.services.alerts import alert_raise, alert_resolve
from pool.services.moves import locked

KEY = "checkpoint:"
SECOND = Value(timedelta(seconds=1))


def late(at: datetime) -> int:
    """One look; how many people were told something."""
    return _overruns(at) + _warned(at) + _alerted(at)


def _running() -> QuerySet[Attempt]:
    """Open attempts that run, with their workload."""
    return Attempt.objects.filter(
        state=AttemptState.OPEN,
        started_at__isnull=False,
        workload__state=WorkloadState.RUNNING,
    ).select_related("workload__project", "workload__template_version")


def _after(start: Any, seconds: Any) -> Any:
    """The moment so many seconds after another, as the database reckons."""
    span = ExpressionWrapper(seconds * SECOND, output_field=DurationField())
    return ExpressionWrapper(start + span, output_field=DateTimeField())


def _overruns(at: datetime) -> int:
    """At the end of its declared time the owner is told; it is never silently killed (S4)."""
    ends = _after(F("started_at"), F("workload__expected_seconds"))
    rows = _running().filter(overran_at=None).annotate(ends=ends).filter(ends__lte=at)
    with transaction.atomic():
        found = locked(rows)
        for row in found:
            Attempt.objects.filter(pk=row.pk).update(overran_at=at)
            work = row.workload
            record(
                EventKind.WORKLOAD_OVERRAN,
                work,
                actor=SYSTEM,
                declared_s=work.expected_seconds,
                attempt=row.number,
            )
    return len(found)


def _unsaved(at: datetime, times: int) -> QuerySet[Attempt]:
    """Training whose newest checkpoint is so many times older than its template allows, or than
    the number in force where that says nothing."""
    saved = Coalesce("checkpoint_at", "started_at")
    unsaid = Value(int(numbers_now()["checkpoint_every_s"]))
    allowed = Coalesce("workload__template_version__checkpoint_seconds", unsaid)
    rows = _running().filter(workload__template_version__work_class__in=sorted(TRAINING))
    return rows.annotate(due=_after(saved, allowed * times)).filter(due__lte=at)


def _warned(at: datetime) -> int:
    """The owner hears of an overdue checkpoint once, until a new one is seen (S6)."""
    with transaction.atomic():
        found = locked(_unsaved(at, 1).filter(checkpoint_warned_at=None))
        for row in found:
            Attempt.objects.filter(pk=row.pk).update(checkpoint_warned_at=at)
            saved = row.checkpoint_at or row.started_at or at
            since = round((at - saved).total_seconds())
            record(EventKind.CHECKPOINT_OVERDUE, row.workload, actor=SYSTEM, unsaved_s=since)
    return len(found)


def _alerted(at: datetime) -> int:
    """Twice the time: an alert, which is over with the next checkpoint or the end."""
    stale = {f"{KEY}{row.workload.uid}": row.workload for row in _unsaved(at, 2)}
    alerts = Alert.objects.filter(key__startswith=KEY).exclude(state=AlertState.RESOLVED)
    open_keys = set(alerts.values_list("key", flat=True))
    for key in sorted(open_keys - stale.keys()):
        alert_resolve(key=key, actor=SYSTEM)
    for key in sorted(stale.keys() - open_keys):
        work = stale[key]
        alert_raise(
            key=key,
            subject=f"workload:{work.uid}",
            title=_("%(name)s has saved no checkpoint for too long") % {"name": work.name},
            actor=SYSTEM,
            family="workload",
        )
    return len(open_keys ^ stale.keys())
