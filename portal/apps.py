"""The portal as a Django application."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """Doors."""

    name = "portal"
    default_auto_field = "django.db.models.BigAutoField"
