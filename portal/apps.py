"""The portal as a Django application."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """Doors."""

    name = "portal"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Listen to log-ins."""
        from portal.access import logins, single_sign_on

        logins.listen()
        single_sign_on.listen()
