"""`manage.py states`: draws every state machine of the pool into docs/states.md."""

import pkgutil
from argparse import ArgumentParser
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

import pool.lifecycle
from pool.lifecycle.table import Lifecycle

HEAD = """# States

Generated from `pool/lifecycle/` by `manage.py states`; a test compares this file with the tables.
A state with a deadline is transitional: `pool/cycle/watch.py` ends what is past it.
"""


class Command(BaseCommand):
    """The picture cannot drift from the tables: it is drawn from them."""

    help = "Write docs/states.md from the lifecycle tables."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--file", type=Path, default=Path("docs/states.md"))

    def handle(self, *args: Any, **options: Any) -> None:
        target = Path(settings.BASE_DIR) / options["file"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(drawn(), encoding="utf-8")
        self.stdout.write(f"{len(lifecycles())} state machines are in {options['file']}")


def lifecycles() -> list[Lifecycle[Any]]:
    """Every table of every module in `pool.lifecycle`, by name."""
    found: dict[str, Lifecycle[Any]] = {}
    for module in pkgutil.iter_modules(pool.lifecycle.__path__):
        for value in vars(import_module(f"pool.lifecycle.{module.name}")).values():
            if isinstance(value, Lifecycle):
                found[value.name] = value
    return [found[name] for name in sorted(found)]


def drawn() -> str:
    """The whole file: for each machine a diagram and a table."""
    return HEAD + "".join(_machine(one) for one in lifecycles())


def _machine(one: Lifecycle[Any]) -> str:
    kind: type[StrEnum] = type(one.first)
    order = list(kind)
    arrows = [f"    [*] --> {state}" for state in order if state in {one.first, *one.also_first}]
    for state in order:
        arrows += [f"    {state} --> {after}" for after in order if after in one.moves[state]]
        if state in one.final:
            arrows.append(f"    {state} --> [*]")
    rows = [f"| `{state}` | {_kind(one, state)} | {_after(one, state)} |" for state in order]
    return "\n".join(
        [
            f"\n## {one.name}\n",
            "```mermaid\nstateDiagram-v2",
            *arrows,
            "```\n",
            "| state | lasts | may become |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _kind(one: Lifecycle[Any], state: StrEnum) -> str:
    if state in one.passing:
        return one.passing[state]
    return "for ever: the end" if state in one.final else "as long as it likes"


def _after(one: Lifecycle[Any], state: StrEnum) -> str:
    return ", ".join(f"`{name}`" for name in sorted(one.moves[state])) or "nothing"
