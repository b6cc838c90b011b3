"""`manage.py raise_epoch`: the step after a backup was restored."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from pool.events import Actor
from pool.services.installation import epoch_raise


class Command(BaseCommand):
    """Run once, after the restore and before the portal is started again."""

    help = "Begin a new epoch, so that agents accept what a restored backup says."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", required=True, help="for the log, in your own words")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = Actor("system", "raise_epoch", "manage.py raise_epoch")
        number = epoch_raise(reason=options["reason"], actor=actor)
        self.stdout.write(f"The epoch is now {number}.")
