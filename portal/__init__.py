"""Doors: pages, REST, sockets, the nodes' gate. Hands on the Celery app."""

from portal.celery import app as celery_app

__all__ = ["celery_app"]
