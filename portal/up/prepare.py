"""Steps that end by themselves before the web starts: `python -m portal.up.prepare STEP`."""

import hashlib
import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import OperationalError


def migrate() -> None:
    """Tables, and the table of the database cache."""
    call_command("migrate", interactive=False, verbosity=1)
    call_command("createcachetable", verbosity=0)


def static() -> None:
    """Collect the static files, but only when one of them changed since the last time."""
    target = Path(settings.STATIC_ROOT)
    mark = target / ".collected"
    found = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            at = os.stat(storage.path(name))  # noqa: PTH116 - thousands of files
            found.update(f"{name} {at.st_size} {at.st_mtime_ns}\n".encode())
    if mark.is_file() and mark.read_text(encoding="utf-8") == found.hexdigest():
        return
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)
    target.mkdir(parents=True, exist_ok=True)
    mark.write_text(found.hexdigest(), encoding="utf-8")


STEPS = {"migrate": migrate, "static": static}


def main() -> int:
    """Run one step; a database that cannot be reached is one line, not a traceback."""
    django.setup()
    try:
        STEPS[sys.argv[1]]()
    except OperationalError as bad:
        first = str(bad).strip().splitlines()[0]
        sys.stderr.write(f"The database cannot be used: {first}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
