"""Sockets at which nodes knock."""

from django.urls import path

from portal.gate.sockets import WakeSocket

node_sockets = [path("gate/v1/wake", WakeSocket.as_asgi())]
