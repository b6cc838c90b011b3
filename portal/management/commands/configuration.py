"""`manage.py configuration write|try|load`: the configuration as files, from a shell."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from pool.events import Actor
from pool.services.imports.load import Loaded, load, written
from pool.services.imports.reading import MOST_BYTES
from portal.configuration import SECTIONS, sections_named


class Command(BaseCommand):
    """Writes to standard output; reads a file, or standard input for `-`."""

    help = "Write the configuration, tell what a file would do, or load it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("does", choices=["write", "try", "load"])
        parser.add_argument("file", nargs="?", default="-")
        parser.add_argument("--sections", default="", help="commas between names; all when unsaid")
        parser.add_argument("--csv", action="store_true", help="one section as CSV")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 and the lines on standard error when the file is wrong."""
        try:
            chosen = sections_named(options["sections"])
        except LookupError as unknown:
            raise CommandError(f"There is no section {unknown}.") from unknown
        if options["csv"] and len(chosen) != 1:
            raise CommandError("A CSV holds one section: name it with --sections.")
        shape = "csv" if options["csv"] else "yaml"
        if options["does"] == "write":
            self.stdout.write(written(shape=shape, sections=chosen), ending="")
            return
        self._told(
            load(
                _text(options["file"]),
                shape=shape,
                section=chosen[0].name if options["csv"] else "",
                sections=SECTIONS,
                actor=Actor("system", "configuration", "configuration"),
                keep=options["does"] == "load",
            )
        )

    def _told(self, found: Loaded) -> None:
        for step in found.steps:
            if step.what != "same":
                key = " ".join(part for part in step.key if part)
                self.stdout.write(f"line {step.line}: {step.what} {step.section} {key}")
        for one in found.wrong:
            self.stderr.write(f"line {one.line}: {one.section} {one.field}: {one.text}")
        told = ", ".join(f"{found.count(what)} {what}" for what in ("new", "changed", "same"))
        self.stdout.write(f"{told}; {'loaded' if found.kept else 'nothing is loaded'}")
        if found.wrong:
            sys.exit(1)


def _text(name: str) -> str:
    raw = sys.stdin.buffer.read(MOST_BYTES + 1) if name == "-" else Path(name).read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise CommandError("The file is not UTF-8 text.") from wrong
