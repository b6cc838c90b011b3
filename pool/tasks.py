"""Celery's door to the cycle: thin. Each may run twice, late or beside itself without harm."""

from celery import shared_task
from django.db import OperationalError

from pool.cycle.round import run_rounds
from pool.wake import Wake


@shared_task(name=Wake.PLACEMENT_ROUND.value, autoretry_for=(OperationalError,), max_retries=3)
def placement_round() -> None:
    """Give waiting work its place, until no round is wanted."""
    run_rounds()
