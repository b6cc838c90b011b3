"""Celery's door to billing."""

from typing import Any

import structlog
from celery import shared_task
from django.db import OperationalError

from billing.services.metering import usage_meter
from pool.wake import Wake

log = structlog.get_logger(__name__)


@shared_task(
    name=Wake.METER.value,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    max_retries=5,
    acks_late=True,
)
def meter() -> dict[str, Any]:
    """Safe to run twice, late, or beside itself: the cursor moves with the rows it explains."""
    done = usage_meter()
    if done.rows:
        log.info("meter.ran", events=done.events, holds=done.holds, rows=done.rows)
    return {"events": done.events, "holds": done.holds, "rows": done.rows, "busy": done.busy}
