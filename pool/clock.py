"""The one seam for now. Test stacks and demonstrations move it by one row of the database."""

from datetime import UTC, datetime

from django.conf import settings
from django.db import connection

_ASK = "SELECT pool_now()"


def now() -> datetime:
    """The pool's time, UTC. Where the clock may be moved it is asked of the database."""
    if not getattr(settings, "CLOCK_MOVABLE", False):
        return datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute(_ASK)
        found: datetime = cursor.fetchone()[0]
    return found
