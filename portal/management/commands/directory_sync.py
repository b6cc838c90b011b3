"""Read the LDAP directory now: accounts and roles by its groups, as every night."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from portal.access.directory import DirectoryAway, directory_sync


class Command(BaseCommand):
    """`manage.py directory_sync`."""

    help = "Read people and groups of the LDAP directory now and give and take roles by them."

    def handle(self, *args: Any, **options: Any) -> None:
        """One reading, told in one line.

        Raises:
            CommandError: there is no directory, or it is away; nothing changed then.
        """
        if not settings.LDAP_URL:
            raise CommandError("LDAP_URL is not set: there is no directory to read")
        try:
            read = directory_sync()
        except DirectoryAway as away:
            raise CommandError(f"the directory is away: {away}") from away
        self.stdout.write(
            f"{read.people} people read, {read.created} accounts made,"
            f" {read.given} roles given, {read.taken} taken"
        )
