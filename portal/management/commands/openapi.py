"""Write docs/openapi.json as the doors now are."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from portal.api.document import document


class Command(BaseCommand):
    """The committed file is compared with the doors in a test; this is how it is written anew."""

    help = "Write docs/openapi.json."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Needs no database."""
        target = settings.BASE_DIR / "docs" / "openapi.json"
        target.write_bytes(document())
        self.stdout.write(f"{target} is written.")
