"""Celery's door to the portal's own chores: thin. Each may run twice or beside itself."""

import structlog
from celery import shared_task
from django.conf import settings

from pool.wake import Wake
from portal.access.directory import DirectoryAway, directory_sync
from portal.access.passes import passes_forget
from portal.access.sessions import sessions_forget
from portal.notices.channels.sender import alerts_send
from portal.notices.deliver import deliver

log = structlog.get_logger(__name__)


@shared_task(name=Wake.NOTICES.value)
def send_notices() -> None:
    """Send the letters that are due; beat comes again in half a minute."""
    deliver()


@shared_task(name=Wake.ALERTS.value)
def send_alerts() -> None:
    """Send the words of alerts that are due; beat comes again in fifteen seconds."""
    alerts_send()


@shared_task(name="portal.tidy")
def tidy() -> None:
    """Forget sessions and ways into notebooks that are over; beat comes every night."""
    sessions_forget()
    passes_forget()


@shared_task(name="portal.directory_sync")
def directory_read() -> None:
    """Make roles what the directory says; beat comes every night. Without LDAP_URL nothing."""
    if not settings.LDAP_URL:
        return
    try:
        directory_sync()
    except DirectoryAway as away:
        log.warning("directory.away", reason=str(away))
