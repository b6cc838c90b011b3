"""The pool as a Django application."""

from django.apps import AppConfig


class PoolConfig(AppConfig):
    """Cards and claims."""

    name = "pool"
    default_auto_field = "django.db.models.BigAutoField"
