"""`manage.py up`: the whole real stack on this machine, until Ctrl-C."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from portal.settings import env
from portal.up.options import FIRST_RUNS, Options
from portal.up.refusal import Refused
from portal.up.run import up


class Command(BaseCommand):
    """Starts and supervises; needs neither a database nor a configuration to begin with."""

    help = "Run the whole stack: engines, portal, workers and the agents of the fleet."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port", type=int, default=8000, help="of the portal; the next is the gateway's"
        )
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--data-dir", type=Path, default=None, help="everything that is kept")
        parser.add_argument(
            "--work-dir", type=Path, default=None, help="where workloads' files lie"
        )
        parser.add_argument("--fleet", type=Path, default=None, help="YAML of simulated nodes")
        parser.add_argument("--first-run", choices=FIRST_RUNS, default=None)
        parser.add_argument("--no-agent", action="store_true", help="start no node agent")
        parser.add_argument("--web-workers", type=int, default=1)
        parser.add_argument("--open", action="store_true", help="open a browser when ready")

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console()
        try:
            asked = self._options(options)
            if asked.first_run is None and _is_new(asked) and sys.stdin.isatty():
                options["first_run"] = _ask(console)
                asked = self._options(options)
            status = up(asked, console)
        except Refused as refused:
            raise CommandError(str(refused)) from None
        if status:
            sys.exit(status)

    def _options(self, given: dict[str, Any]) -> Options:
        return Options(
            port=given["port"],
            host=given["host"],
            data_dir=(given["data_dir"] or env.data_dir()).absolute(),
            work_dir=given["work_dir"].absolute() if given["work_dir"] else None,
            fleet=given["fleet"].absolute() if given["fleet"] else None,
            first_run=given["first_run"],
            agents=not given["no_agent"],
            web_workers=given["web_workers"],
            open_browser=given["open"],
        )


def _is_new(options: Options) -> bool:
    return not (options.data_dir / "run" / "first_run.json").exists()


def _ask(console: Console) -> str:
    """Once, on a terminal: what to put into the new installation.

    Raises:
        Refused: no answer was given.
    """
    lines = (
        "A new installation. Fill it with",
        "  1  an example: organizations, people, a simulated fleet (marked as example)",
        "  2  nothing: one administrator",
        "  3  observe only: measure this machine's cards, run nothing on them",
    )
    for line in lines:
        console.print(line, highlight=False)
    try:
        while True:
            answer = console.input("Which? (1) ").strip() or "1"
            if answer in {"1", "2", "3"}:
                return FIRST_RUNS[int(answer) - 1]
    except (EOFError, KeyboardInterrupt):
        raise Refused("Nothing was chosen; nothing was started.") from None
