"""YAML and CSV from people nobody trusts: bounded, without aliases, every row with its line."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

import yaml
from django.utils.translation import gettext as _

from pool.sheets import unmarked

MOST_BYTES = 4 * 1024 * 1024
MOST_ROWS = 20_000
MOST_DEPTH = 12
MOST_CELL = 65_536


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a section, with the line at which it begins."""

    line: int
    section: str
    words: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong, and in which line; line 0 is the file as a whole."""

    line: int
    section: str
    field: str
    text: str


class Unreadable(Exception):
    """The file as a whole cannot be read; `wrong` says where and why."""

    def __init__(self, line: int, text: str) -> None:
        self.wrong = Wrong(line, "", "", text)
        super().__init__(text)


def read(text: str, *, shape: str, section: str = "") -> list[Line]:
    """The rows of a file; `section` names what a CSV holds.

    Raises:
        Unreadable: too large, too deep, not of that shape, or with aliases.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise Unreadable(0, _("A file of at most %(n)s MiB is possible.") % {"n": MOST_BYTES >> 20})
    if "\x00" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise Unreadable(0, _("It has signs that no text has."))
    rows = _csv(text, section) if shape == "csv" else _yaml(text)
    found: list[Line] = []
    for row in rows:
        found.append(row)
        if len(found) > MOST_ROWS:
            raise Unreadable(row.line, _("At most %(n)s rows are possible.") % {"n": MOST_ROWS})
    return found


def document(text: str, *, most: int) -> Any:
    """The one value that a YAML or JSON text says, as bounded as a file: `most` letters.

    Raises:
        Unreadable: too long, too deep, no YAML, or with aliases, which let few letters say much.
    """
    if len(text) > most:
        said = _("A short text is needed: at most %(most)s characters.")
        raise Unreadable(0, said % {"most": most})
    try:
        return yaml.safe_load(_checked(text))
    except yaml.MarkedYAMLError as wrong:
        raise _marked(wrong) from wrong
    except (ValueError, OverflowError) as wrong:
        raise Unreadable(0, _("A value cannot be read: %(why)s.") % {"why": wrong}) from wrong


def _csv(text: str, section: str) -> Iterator[Line]:
    csv.field_size_limit(MOST_CELL)
    reader = csv.DictReader(StringIO(text.lstrip("\ufeff")), restkey="", strict=True)
    try:
        for row in reader:
            if "" in row:
                raise Unreadable(reader.line_num, _("This line has more cells than the first."))
            words = {str(k).strip(): unmarked(v) for k, v in row.items() if v not in (None, "")}
            yield Line(reader.line_num, section, words)
    except csv.Error as wrong:
        raise Unreadable(reader.line_num, str(wrong)) from wrong


def _yaml(text: str) -> Iterator[Line]:
    loader = yaml.SafeLoader(_checked(text))
    try:
        root = loader.get_single_node()
        if root is None:
            return
        if not isinstance(root, yaml.MappingNode):
            raise Unreadable(1, _("Sections with their rows are needed."))
        for key, rows in root.value:
            yield from _rows(loader, str(key.value), rows)
    except yaml.MarkedYAMLError as wrong:
        raise _marked(wrong) from wrong
    except (ValueError, OverflowError) as wrong:
        raise Unreadable(0, _("A value cannot be read: %(why)s.") % {"why": wrong}) from wrong
    finally:
        loader.dispose()


def _rows(loader: yaml.SafeLoader, section: str, rows: yaml.Node) -> Iterator[Line]:
    if not isinstance(rows, yaml.SequenceNode):
        raise Unreadable(_at(rows), _("A list of rows is needed."))
    for row in rows.value:
        words = loader.construct_object(row, deep=True)
        if not isinstance(words, dict) or not all(isinstance(k, str) for k in words):
            raise Unreadable(_at(row), _("Names with values are needed."))
        yield Line(_at(row), section, words)


def _marked(wrong: yaml.MarkedYAMLError) -> Unreadable:
    mark = wrong.problem_mark or wrong.context_mark
    return Unreadable(mark.line + 1 if mark else 0, str(wrong.problem))


def _checked(text: str) -> str:
    """The text, once its events show neither aliases nor tags nor depth that only an attack has."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            line = event.start_mark.line + 1 if event.start_mark else 0
            if isinstance(event, yaml.AliasEvent):
                raise Unreadable(line, _("Aliases are not read here."))
            if getattr(event, "tag", None):
                raise Unreadable(line, _("Tags are not read here."))
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEPTH:
                raise Unreadable(line, _("It is nested too deeply."))
    except yaml.MarkedYAMLError as wrong:
        raise _marked(wrong) from wrong
    except yaml.YAMLError as wrong:
        raise Unreadable(0, _("This is not YAML.")) from wrong
    return text


def _at(node: yaml.Node) -> int:
    mark = node.start_mark
    return mark.line + 1 if mark else 0
