"""Loading a file: compared row by row, tried in one transaction, kept only when all is right."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import yaml
from django.db import DataError, IntegrityError, transaction
from django.utils.translation import gettext as _

from pool.errors import Invalid, PoolError, Stale
from pool.events import Actor
from pool.services.imports.patience import Busy, Patience
from pool.services.imports.reading import Line, Unreadable, Wrong, read
from pool.services.imports.sections import Section, Words, cell
from pool.sheets import plain_cell


@dataclass(frozen=True, slots=True)
class Step:
    """What one row would do: `new`, `changed` or `same`; words to (before, after)."""

    line: int
    section: str
    key: tuple[str, ...]
    what: str
    changed: Mapping[str, tuple[Any, Any]]


@dataclass(slots=True)
class Loaded:
    """What a file does; `kept` only when it was asked for and nothing is wrong."""

    steps: list[Step] = field(default_factory=list)
    wrong: list[Wrong] = field(default_factory=list)
    kept: bool = False

    def count(self, what: str) -> int:
        """How many rows are new, changed or the same."""
        return sum(one.what == what for one in self.steps)


class _Tried(Exception):
    """Takes everything back at the end of a trial."""


def load(
    text: str,
    *,
    shape: str,
    sections: Sequence[Section],
    actor: Actor,
    section: str = "",
    keep: bool = False,
) -> Loaded:
    """Load a file, or (without `keep`) tell what it would do; both take the same way through it.

    Rows that the file does not name stay as they are; words that a row does not name too. A second
    load of the same file changes nothing. What others hold is waited for shortly, and the whole
    takes a minute at most: after that nothing is kept, and a line says so.
    """
    found = Loaded()
    try:
        lines = read(text, shape=shape, section=section)
    except Unreadable as unreadable:
        found.wrong.append(unreadable.wrong)
        return found
    by_name = {one.name: one for one in sections}
    _unknown(lines, by_name, found)
    try:
        with transaction.atomic():
            _all(lines, sections, actor, found, keep)
    except _Tried:
        return found
    except Stale:
        text = _("A round of placing did not end in time, or quotas changed. Try again.")
        found.wrong.append(Wrong(0, "", "", text))
        return found
    except (Busy, PoolError) as refused:
        found.wrong.append(Wrong(0, "", "", str(refused)))
        return found
    found.kept = True
    return found


def _all(
    lines: Sequence[Line], sections: Sequence[Section], actor: Actor, found: Loaded, keep: bool
) -> None:
    """Section by section; what is written together comes last."""
    with Patience() as patience:
        late = []
        for one in sections:
            mine = [line for line in lines if line.section == one.name]
            moved = _section(one, mine, actor, found, patience)
            if one.together is not None and moved:
                late.append((one.together, moved))
        if found.wrong or not keep:
            raise _Tried
        for together, moved in late:
            together(moved, actor)


def _unknown(lines: Iterable[Line], by_name: Mapping[str, Section], found: Loaded) -> None:
    told: set[str] = set()
    for line in lines:
        if line.section not in by_name and line.section not in told:
            told.add(line.section)
            text = _("There is no such section. Choose from: %(known)s.")
            said = text % {"known": ", ".join(by_name)}
            found.wrong.append(Wrong(line.line, line.section[:63], "", said))


def _section(
    section: Section, lines: Sequence[Line], actor: Actor, found: Loaded, patience: Patience
) -> list[Words]:
    """All rows of a section, in the order of the file, each compared with what is there.

    The rows that differ, whole.
    """
    there = {section.key(row): row for row in section.rows()} if lines else {}
    seen: dict[tuple[str, ...], int] = {}
    moved: list[Words] = []
    for line in lines:
        patience.check()
        try:
            words = section.read(line.words)
            key = section.key(words)
            if key in seen:
                raise Invalid(**{section.keys[0]: _("Named already in line %d.") % seen[key]})
            seen[key] = line.line
            step = _step(line, section, words, there.get(key))
            if step.what != "same":
                moved.append(there.get(key, {}) | words)
                _few_enough(section, moved)
                with transaction.atomic():
                    section.load(moved[-1], actor)
            found.steps.append(step)
        except Invalid as wrong:
            for name, texts in wrong.detail.items():
                said = " ".join(map(str, texts))
                found.wrong.append(Wrong(line.line, section.name, name, said))
        except PoolError as refused:
            found.wrong.append(Wrong(line.line, section.name, "", str(refused)))
        except (IntegrityError, DataError):
            text = _("The database does not take this row: somebody else may have made it now.")
            found.wrong.append(Wrong(line.line, section.name, "", text))
    return moved


def _few_enough(section: Section, moved: Sequence[Words]) -> None:
    if len(moved) > section.most:
        text = _("At most %(n)s rows of this section can change at once: split the file.")
        raise Invalid(**{section.keys[0]: text % {"n": section.most}})


def _step(line: Line, section: Section, words: Words, there: Words | None) -> Step:
    key = section.key(words)
    if there is None:
        new = {name: (None, value) for name, value in words.items() if name not in section.keys}
        return Step(line.line, section.name, key, "new", new)
    changed = {
        name: (there.get(name), value)
        for name, value in words.items()
        if there.get(name) != value and not (not there.get(name) and value in ("", None))
    }
    return Step(line.line, section.name, key, "changed" if changed else "same", changed)


def written(*, shape: str, sections: Sequence[Section]) -> str:
    """The sections as they are, in a file that loads without a change; a CSV has one section."""
    if shape == "csv":
        return _csv(sections[0])
    whole = {one.name: [_short(row) for row in one.rows()] for one in sections}
    return yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=100)


def _short(row: Words) -> Words:
    """Without what says nothing."""
    return {name: value for name, value in row.items() if value not in (None, "", [], {})}


def _csv(section: Section) -> str:
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(section.words)
    for row in section.rows():
        writer.writerow([plain_cell(cell(row.get(name))) for name in section.words])
    return out.getvalue()
