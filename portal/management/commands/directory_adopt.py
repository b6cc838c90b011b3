"""Say that an account is the LDAP directory's: its person logs in with the directory's password."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from pool.errors import Invalid
from pool.events import Actor
from pool.services.people.adopting import directory_adopt


class Command(BaseCommand):
    """`manage.py directory_adopt USER`."""

    help = "Let the directory speak of an account that was made here or by single sign-on."

    def add_arguments(self, parser: CommandParser) -> None:
        """The user name as it is here."""
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        """One account, told in one line.

        Raises:
            CommandError: there is no such person, or the account has a password here.
        """
        actor = Actor("system", "configuration", "configuration")
        try:
            row = directory_adopt(username=options["username"], actor=actor)
        except Invalid as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"{row.username} is the directory's from now on")
