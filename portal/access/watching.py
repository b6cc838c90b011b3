"""Who may see how the installation does: the machine itself, or whoever has the token."""

import hmac
import ipaddress

from django.conf import settings
from django.http import HttpRequest


def may_watch(request: HttpRequest) -> bool:
    """The machine itself, unless a proxy stands between; or whoever holds the token."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    token = settings.HEALTH_TOKEN
    if token and hmac.compare_digest(given.encode(), token.encode()):
        return True
    try:
        near = ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
    return near and "X-Forwarded-For" not in request.headers
