"""Sessions of browsers: whether one still lives, and an end for what is over."""

from django.contrib.sessions.models import Session

from pool import clock


def session_lives(key: str) -> bool:
    """Whether the log-in of that session is in force: rows outlive it until they are tidied."""
    return Session.objects.filter(session_key=key, expire_date__gt=clock.now()).exists()


def sessions_forget() -> int:
    """Remove sessions that are over; how many there were."""
    return Session.objects.filter(expire_date__lte=clock.now()).delete()[0]
