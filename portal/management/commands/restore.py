"""`manage.py restore FILE`: the installation as it was, in a new epoch."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.settings import env
from portal.up.backup import restore
from portal.up.refusal import Refused


class Command(BaseCommand):
    """Refused while the portal runs; running work on the nodes goes on through it."""

    help = "Replace the database by a backup, put its keys back, and begin a new epoch."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--reason", required=True, help="for the log, in your own words")
        parser.add_argument("--data-dir", type=Path, default=None, help="that of `up`")
        parser.add_argument(
            "--epoch-at-least",
            type=int,
            default=0,
            help="where nodes have seen a later epoch than the books that are replaced",
        )
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, **options: Any) -> None:
        """One line a step; exit code 1 and one line when it cannot be."""
        data = (options["data_dir"] or env.data_dir()).absolute()
        if not options["yes"] and not _sure(data):
            raise CommandError("Nothing was changed; --yes does not ask.")
        try:
            epoch = restore(
                archive=options["file"].absolute(),
                data=data,
                reason=options["reason"],
                least_epoch=options["epoch_at_least"],
                say=self.stdout.write,
            )
        except Refused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(f"Restored; the epoch is now {epoch}. Start the portal again.")


def _sure(data: Path) -> bool:
    """A person's word, once; a script says --yes."""
    if not sys.stdin.isatty():
        return False
    said = input(f"This replaces all books of {data} (or of DATABASE_URL). Type yes to go on: ")
    return said.strip() == "yes"
