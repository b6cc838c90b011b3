"""Brings the Chinese catalogue up to date with the words in the code and in the templates."""

import io
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_python
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation.template import templatize

ROOMS = ("portal", "billing", "pool", "templates")
KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
Found = tuple[int, Any, Any, Any]


class Command(BaseCommand):
    """Babel reads Python; Django turns a template into something that Babel can read."""

    help = __doc__ or ""
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing; fail when behind")

    def handle(self, *args: Any, **options: Any) -> None:
        root = Path(settings.BASE_DIR)
        path = root / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
        catalog = current(path)
        before = {(one.id, one.context) for one in catalog if one.id}
        made = catalog.creation_date
        catalog.update(extracted(root), no_fuzzy_matching=True)
        catalog.creation_date = made  # so that a run without news changes nothing
        after = {(one.id, one.context) for one in catalog if one.id}
        left = [str(one.id) for one in catalog if one.id and not _whole(one.string)]
        if options["check"]:
            if before != after or left:
                raise CommandError(f"the catalogue is behind: {(sorted(map(str, left)))[:5]}")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_po(file, catalog, width=100, sort_output=True, no_location=True)
        self.stdout.write(f"{len(after)} messages, {len(left)} without a translation")


def current(path: Path) -> Catalog:
    """The catalogue as it is; obsolete messages are dropped."""
    known = Catalog(locale="zh_Hans")
    if path.is_file():
        with path.open("rb") as file:
            known = read_po(file, locale="zh_Hans", ignore_obsolete=True)
    known.project, known.version, known.fuzzy = "gpupool", "1", False
    known.header_comment = (
        "# Simplified Chinese words of the pool, written by `manage.py messages`."
    )
    known.msgid_bugs_address = known.last_translator = known.language_team = "gpupool"
    return known


def extracted(root: Path) -> Catalog:
    """Every message of the code and of the templates."""
    found = Catalog(project="gpupool", fuzzy=False)
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in {".py", ".html"} and "migrations" not in path.parts:
                for _line, function, message, _comments in _messages(path):
                    _add(found, function, message)
    return found


def _messages(path: Path) -> Iterator[Found]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        lines = templatize(text).splitlines()
        text = "\n".join(line.strip() for line in lines)
    return extract_python(io.BytesIO(text.encode()), KEYWORDS, [], {"encoding": "utf-8"})


def _add(found: Catalog, function: str, message: Any) -> None:
    parts = message if isinstance(message, tuple) else (message,)
    context = parts[0] if "pgettext" in function else None
    words = parts[1:] if context else parts
    wanted = 2 if function.startswith("n") else 1
    if len(words) >= wanted and all(words[:wanted]):
        found.add(tuple(words[:2]) if wanted == 2 else words[0], context=context)


def _whole(translated: Any) -> bool:
    return all(translated) if isinstance(translated, (tuple, list)) else bool(translated)
