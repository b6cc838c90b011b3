"""After commit: wake a task by its name. A lost wake only delays: beat runs it anyway."""

import time
from enum import StrEnum

import structlog
from celery import Celery
from celery.app import app_or_default
from django.db import transaction
from django.db.models import F
from kombu import Connection
from kombu.pools import producers

from pool.models.installation import Installation

log = structlog.get_logger(__name__)

PATIENCE = {"max_retries": 0, "socket_timeout": 1.0, "socket_connect_timeout": 1.0}
"""One try of a second: whoever writes to the books is not held up by a broker that is away."""

REST_S = 1.0
"""After a failed word nothing is tried for so long; beat runs the tasks meanwhile."""


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


class Caller:
    """Hands words to the broker over connections of its own, which give up at once."""

    def __init__(self, app: Celery) -> None:
        self._app = app
        self._rests_until = 0.0

    def send(self, task: Wake) -> None:
        """One try, and none while it rests after a failure."""
        if time.monotonic() < self._rests_until:
            return
        try:
            with producers[self._link()].acquire(block=True, timeout=1) as producer:
                self._app.send_task(
                    task.value, producer=producer, retry=False, ignore_result=True, expires=30
                )
        except Exception as away:  # whatever the client raises, beat comes
            self._rests_until = time.monotonic() + REST_S
            log.warning("wake.lost", task=task.value, reason=repr(away))

    def _link(self) -> Connection:
        """Where the application sends, with less patience."""
        link = self._app.connection_for_write()
        link.transport_options = {**(link.transport_options or {}), **PATIENCE}
        return link


_callers: dict[str, Caller] = {}


def _send(task: Wake) -> None:
    app = app_or_default()
    caller = _callers.get(app.main)
    if caller is None:
        caller = _callers[app.main] = Caller(app)
    caller.send(task)
