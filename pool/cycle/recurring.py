"""Recurring work: look which times have come, decide by their policies, write each of them once."""

from dataclasses import dataclass

import structlog

from pool.clock import now
from pool.services.series.firing import due_schedules, schedule_fire, schedules_orphaned

log = structlog.get_logger(__name__)

MOST = 500
"""One sweep handles at most so many schedules; the next one follows in seconds."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did: times that were handled, and schedules paused for want of an owner."""

    handled: int = 0
    paused: int = 0


def recurring() -> Swept:
    """One sweep; any number may run beside each other, since each locks the rows it handles."""
    paused = schedules_orphaned()
    handled = 0
    for pk in due_schedules(at=now(), most=MOST):
        try:
            handled += schedule_fire(schedule_id=pk)
        except Exception:  # one schedule that cannot be handled keeps no other from its time
            log.exception("recurring.failed", schedule=pk)
    if handled or paused:
        log.info("recurring.swept", handled=handled, paused=paused)
    return Swept(handled, paused)
