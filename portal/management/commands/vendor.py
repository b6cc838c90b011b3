"""Copies what browsers load from node_modules into static/vendor: files and one icon sprite."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

_INNER = re.compile(r"<svg[^>]*>(.*)</svg>", re.DOTALL)
_SYMBOL = (
    '<symbol id="{name}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" '
    'stroke-linecap="round" stroke-linejoin="round">{inner}</symbol>'
)


class Command(BaseCommand):
    """`npm ci` fetches whole packages; this takes only what package.json's `vendor` names."""

    help = __doc__ or ""
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        root = Path(settings.BASE_DIR)
        source = root / "node_modules"
        target = root / "static" / "vendor"
        if not source.is_dir():
            raise CommandError("node_modules is missing: run `npm ci` first")
        listed = json.loads((root / "package.json").read_text(encoding="utf-8"))["vendor"]
        target.mkdir(parents=True, exist_ok=True)
        for origin in listed["files"]:
            path = source / origin
            shutil.copyfile(path, target / path.name)
        drawn = sprite(source / "@tabler" / "icons", listed["icons"])
        (target / "icons.svg").write_text(drawn, encoding="utf-8")
        counts = f"{len(listed['files'])} files and {len(listed['icons'])} icons"
        self.stdout.write(f"{counts} are in static/vendor")


def sprite(package: Path, names: list[str]) -> str:
    """One SVG with a symbol for each outline icon.

    Raises:
        CommandError: the package has no icon of that name.
    """
    symbols = []
    for name in names:
        path = package / "icons" / "outline" / f"{name}.svg"
        found = _INNER.search(path.read_text(encoding="utf-8")) if path.is_file() else None
        if found is None:
            raise CommandError(f"no icon named {name} in @tabler/icons")
        inner = " ".join(found.group(1).split())
        symbols.append(_SYMBOL.format(name=name, inner=inner))
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>\n'
