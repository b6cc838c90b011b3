"""`manage.py reconcile`: do ledger, usage, placements and nodes tell the same?"""

from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from billing.selectors.holds import database_now
from billing.selectors.reconciling import differences

SETTLES = timedelta(minutes=15)


class Command(BaseCommand):
    """Prints each difference and ends with 1 when there is one; nothing is changed."""

    help = "Compare ledger, usage, placements and the nodes' own counts."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--since", help="first day, for example 2026-11-01; 35 days ago")
        parser.add_argument("--until", help="day after the last one; a quarter of an hour ago")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError on a difference, so that a script sees it by its exit status."""
        now = database_now()
        since = _day(options["since"]) or now - timedelta(days=35)
        until = min(_day(options["until"]) or now, now - SETTLES)
        found = differences(since=since, until=until)
        for one in found:
            self.stdout.write(f"{one.subject}: {one.what}: {one.one:.0f} / {one.other:.0f}")
        if found:
            raise CommandError(f"{len(found)} differences")
        span = f"{since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M} UTC"
        self.stdout.write(f"No difference from {span}")


def _day(text: str | None) -> datetime | None:
    """A day's beginning in UTC.

    Raises:
        CommandError: it is no day.
    """
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError as wrong:
        raise CommandError(f"{text} is no day") from wrong
