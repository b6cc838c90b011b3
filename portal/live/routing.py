"""Sockets of browsers: only from our own pages, with the session of whoever is logged in."""

from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.urls import path

from portal.live.consumers import BrowserSocket


def browser_door() -> Any:
    """The application at `live/`; the allowed hosts are read when it is made."""
    sockets = URLRouter([path("", BrowserSocket.as_asgi())])
    return AllowedHostsOriginValidator(AuthMiddlewareStack(sockets))
