"""Copies what browsers load from node_modules into static/vendor: a list of files and one icon sprite."""

import re
import shutil
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

FILES = (
    ("@tabler/core/dist/css/tabler.min.css", "tabler.min.css"),
    ("@tabler/core/dist/css/tabler.min.css.map", "tabler.min.css.map"),
    ("@tabler/core/dist/js/tabler.min.js", "tabler.min.js"),
    ("@tabler/core/dist/js/tabler.min.js.map", "tabler.min.js.map"),
    ("htmx.org/dist/htmx.min.js", "htmx.min.js"),
    ("idiomorph/dist/idiomorph-ext.min.js", "idiomorph-ext.min.js"),
    ("echarts/dist/echarts.min.js", "echarts.min.js"),
)
"""Where a file lies in node_modules, and its name in static/vendor; maps beside what names them."""

ICONS = tuple(
    """
    adjustments alert-circle alert-triangle arrow-back-up arrow-left arrow-right ban bolt building
    calendar-due cards chart-bar check chevron-down chevron-left chevron-right chevron-up circle-check
    circle-dashed circle-x clock clock-pause coins copy cpu device-desktop dots-vertical download edit
    external-link eye eye-off file-text filter gauge help-circle history home hourglass hourglass-high
    inbox info-circle key keyboard language layout-grid list list-check loader-2 lock login logout
    message-circle-question moon network player-play player-stop plug-connected-x plus receipt refresh
    rocket scissors search send server-2 settings shield-check shield-off snowflake sparkles square-rounded-check stack-2 sun
    template
    terminal-2 trash trending-up user users wallet x
    """.split()
)
"""Outline icons that the templates name."""

_INNER = re.compile(r"<svg[^>]*>(.*)</svg>", re.DOTALL)
_SYMBOL = (
    '<symbol id="{name}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" '
    'stroke-linecap="round" stroke-linejoin="round">{inner}</symbol>'
)


class Command(BaseCommand):
    """`npm ci` fetches whole packages; this takes only what a page names, so that little is served."""

    help = __doc__ or ""
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        source = Path(settings.BASE_DIR) / "node_modules"
        target = Path(settings.BASE_DIR) / "static" / "vendor"
        if not source.is_dir():
            raise CommandError("node_modules is missing: run `npm ci` first")
        target.mkdir(parents=True, exist_ok=True)
        for origin, name in FILES:
            shutil.copyfile(source / origin, target / name)
        (target / "icons.svg").write_text(sprite(source / "@tabler" / "icons"), encoding="utf-8")
        self.stdout.write(f"{len(FILES)} files and {len(ICONS)} icons are in static/vendor")


def sprite(icons: Path) -> str:
    """One SVG with a symbol for each of ICONS.

    Raises:
        CommandError: the package has no icon of that name.
    """
    symbols = []
    for name in ICONS:
        path = icons / "icons" / "outline" / f"{name}.svg"
        found = _INNER.search(path.read_text(encoding="utf-8")) if path.is_file() else None
        if found is None:
            raise CommandError(f"no icon named {name} in @tabler/icons")
        inner = " ".join(found.group(1).split())
        symbols.append(_SYMBOL.format(name=name, inner=inner))
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>\n'
