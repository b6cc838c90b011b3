"""Sockets of browsers; the address `live/` itself is in portal/asgi.py."""

from django.urls import path

from portal.live.consumers import BrowserSocket

browser_sockets = [path("", BrowserSocket.as_asgi())]
