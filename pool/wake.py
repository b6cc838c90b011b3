"""After commit: wake a task by its name. A lost wake only delays: beat runs it anyway."""

from enum import StrEnum

import structlog
from celery import current_app
from django.db import transaction
from django.db.models import F

from pool.models.installation import Installation

log = structlog.get_logger(__name__)


class Wake(StrEnum):
    """Tasks that a service may wake."""

    PLACEMENT_ROUND = "pool.placement_round"
    METER = "billing.meter"
    WATCH = "pool.watch"
    EXPIRE = "pool.expire"
    NOTICES = "portal.send_notices"
    ALERTS = "portal.send_alerts"
    STUDIES = "pool.studies"


def wake(task: Wake) -> None:
    """Send the task once the transaction has committed: without retry, one second, never raises."""
    transaction.on_commit(lambda: _send(task), robust=True)


def round_wanted() -> None:
    """Count, in this transaction, that the queue or the room changed; wake a round after it."""
    Installation.objects.filter(pk=1).update(round_wanted=F("round_wanted") + 1)
    wake(Wake.PLACEMENT_ROUND)


def _send(task: Wake) -> None:
    try:
        current_app.send_task(task.value, retry=False, ignore_result=True, expires=30)
    except Exception as away:  # whatever the client raises, beat comes
        log.warning("wake.lost", task=task.value, reason=repr(away))
