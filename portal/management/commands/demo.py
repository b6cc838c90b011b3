"""`manage.py demo`: a made-up month of a 300-card pool, in an installation of its own."""

import subprocess
import sys
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.demo.fleet import most_cards
from portal.demo.make import demo_make, is_demo
from portal.demo.plan import DemoPlan
from portal.settings import env
from portal.settings.env import ROOT
from portal.up.engines import engines
from portal.up.refusal import Refused

DAYS, LEAST_DAYS, MOST_DAYS = 33, 1, 120


class Command(BaseCommand):
    """Makes the demo; `manage.py up --data-dir …` then shows it."""

    help = "Make a demo: a mixed fleet and a month of history, simulated by the live scheduler."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data-dir", type=Path, default=ROOT / ".demo", help="a new folder")
        parser.add_argument("--cards", type=int, default=most_cards())
        parser.add_argument("--days", type=int, default=DAYS, help="of history, up to now")
        parser.add_argument("--seed", type=int, default=1, help="another one, another month")

    def handle(self, *args: Any, **options: Any) -> None:
        """One line a step; CommandError where there is something already."""
        if not 1 <= options["cards"] <= most_cards():
            raise CommandError(f"--cards must lie between 1 and {most_cards()}.")
        if not LEAST_DAYS <= options["days"] <= MOST_DAYS:
            raise CommandError(f"--days must lie between {LEAST_DAYS} and {MOST_DAYS}.")
        data = options["data_dir"].absolute()
        try:
            if env.text("DATABASE_URL"):
                self._fill(data, options)
            else:
                self._embedded(data, options)
        except Refused as refused:
            raise CommandError(str(refused)) from None

    def _fill(self, data: Path, options: dict[str, Any]) -> None:
        hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        plan = DemoPlan(
            data=data,
            cards=options["cards"],
            days=options["days"],
            seed=options["seed"],
            until=hour,
        )
        demo_make(plan=plan, say=self.stdout.write)

    def _embedded(self, data: Path, options: dict[str, Any]) -> None:
        """In an embedded database of its own, with the programs that `up` runs later."""
        if is_demo(data):
            raise Refused(f"{data} holds a demo already: manage.py up --data-dir {data}")
        with engines(data) as known:
            asked = [f"--{name}={options[name]}" for name in ("cards", "days", "seed")]
            self._step(known, "-m", "portal.up.prepare", "migrate")
            self._step(known, str(ROOT / "manage.py"), "demo", f"--data-dir={data}", *asked)
        self.stdout.write(f"Now: manage.py up --data-dir {data}")

    def _step(self, known: dict[str, str], *words: str) -> None:
        quiet = subprocess.DEVNULL if words[0] == "-m" else None
        done = subprocess.run(  # noqa: S603
            [sys.executable, *words], env=known, cwd=ROOT, check=False, stdout=quiet
        )
        if done.returncode:
            raise Refused("The demo was not made; the lines above say why.")
