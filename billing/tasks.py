"""Celery's door to billing."""

from typing import Any

import structlog
from celery import shared_task
from django.db import OperationalError

from billing.services.budgets import budgets_watch
from billing.services.metering import usage_meter
from billing.services.posting import ledger_post
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


@shared_task(
    name="billing.ledger",
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    max_retries=5,
    acks_late=True,
)
def ledger() -> dict[str, Any]:
    """Post the hours that are over; twice, late or beside itself it posts nothing more."""
    done = ledger_post()
    if done.postings:
        log.info("ledger.ran", hours=done.hours, postings=done.postings, more=done.more)
    return {"hours": done.hours, "postings": done.postings, "more": done.more}


@shared_task(
    name="billing.budgets",
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    max_retries=5,
    acks_late=True,
)
def budgets() -> dict[str, Any]:
    """Look at every budget; who was told stays told, and what acts goes on acting."""
    return {"changed": budgets_watch()}
