"""Celery's door to the portal's own chores: thin. Each may run twice or beside itself."""

from celery import shared_task

from pool.wake import Wake
from portal.notices.deliver import deliver


@shared_task(name=Wake.NOTICES.value)
def send_notices() -> None:
    """Send the letters that are due; beat comes again in half a minute."""
    deliver()
