"""`manage.py backup FILE`: the books and the keys of this installation as one verified file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.settings import env
from portal.up.backup import backup, verify
from portal.up.refusal import Refused


class Command(BaseCommand):
    """May run beside the stack; Valkey and the jobs' own files are no part of it."""

    help = "Write the database and the installation's keys into one file, and verify it."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--data-dir", type=Path, default=None, help="that of `up`")
        parser.add_argument("--verify", action="store_true", help="only read a file that is there")

    def handle(self, *args: Any, **options: Any) -> None:
        """One line a step; exit code 1 and one line when it cannot be."""
        data = (options["data_dir"] or env.data_dir()).absolute()
        archive = options["file"].absolute()
        try:
            if options["verify"]:
                about = verify(archive=archive, say=self.stdout.write)
            else:
                about = backup(data=data, target=archive, say=self.stdout.write)
        except Refused as refused:
            raise CommandError(str(refused)) from None
        if "secrets.json" not in about.sums:
            self.stdout.write("SECRET_KEY and SECRET_KEYS of your environment are not in it.")
        self.stdout.write(f"{archive}: made {about.made_at}, epoch {about.epoch}. Keep it secret.")
