"""`manage.py first_run`: what a new installation begins with; safe to repeat at every start."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from pool.errors import PoolError
from portal.first_run.fleet import BadFleet
from portal.first_run.run import DEMO, MODES, Plan, first_run
from portal.settings import env


class Command(BaseCommand):
    """Seeds templates, people, partitions and the fleet's join tokens, once."""

    help = "Fill a new installation: example, empty, or observe-only."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--mode", choices=(*MODES, DEMO), default="example")
        parser.add_argument("--data-dir", type=Path, default=None, help="where passwords are kept")
        parser.add_argument("--fleet", type=Path, default=None, help="YAML of simulated nodes")
        parser.add_argument("--real-node", default="", help="this machine's own cards instead")
        parser.add_argument("--no-agent", action="store_true", help="lay out no node agent")

    def handle(self, *args: Any, **options: Any) -> None:
        data = options["data_dir"] or env.data_dir()
        plan = Plan(
            mode=options["mode"],
            data=data.absolute(),
            fleet=options["fleet"].absolute() if options["fleet"] else None,
            real_node=options["real_node"],
            agents=not options["no_agent"],
        )
        try:
            mode = first_run(plan)
        except (BadFleet, PoolError, OSError) as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"First run: {mode}.")
