"""Calls of the first run, and what it wrote."""

import json

from django.core.management import call_command


def run(folder, mode="example", **options):
    """The command, as the supervisor calls it."""
    call_command("first_run", mode=mode, data_dir=folder, **options)


def told(folder, name="credentials.json"):
    """One of the files it laid down."""
    return json.loads((folder / name).read_text(encoding="utf-8"))
