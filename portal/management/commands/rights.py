"""Write the permission table into docs/security.md, or check that it says what the code does."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.access.table import written


class Command(BaseCommand):
    """`manage.py rights [--check]`."""

    help = "Write who may do what into docs/security.md from portal/access/roles.py."

    def add_arguments(self, parser: CommandParser) -> None:
        """One switch."""
        parser.add_argument("--check", action="store_true", help="change nothing; fail if it would")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write or check.

        Raises:
            CommandError: with `--check`, the document says something else.
        """
        file = settings.BASE_DIR / "docs" / "security.md"
        text = file.read_text(encoding="utf-8")
        fresh = written(text)
        if options["check"] and fresh != text:
            raise CommandError("docs/security.md is not up to date; run manage.py rights")
        file.write_text(fresh, encoding="utf-8")
