"""A what-if that is copied: what of it stands in fields, and what is carried as it is."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.rules.problems import Problems
from pool.rules.whatif.changes import Known, changes_from
from portal.pages.whatif.fields import SWITCHES, changes_from_form
from portal.pages.whatif.words import scenario_said

MOST_CARRIED = 1000
"""So many rows are carried at the most; more than a scenario has."""

MOST_LETTERS = 50_000

Words = dict[str, str]


ORDERED = ("priorities", "partitions", "prices")
"""Sections whose later rows go before earlier ones: they are carried whole or not at all."""


def typed(
    changes: Mapping[str, Any], known: Known, fields: Collection[str]
) -> tuple[Words, list[str]]:
    """A scenario as the words of these fields, and what they cannot say, as JSON row by row.

    Put together by `with_carried` they are the same scenario again.
    """
    words: Words = {}
    carried: list[str] = []
    for section, rows in changes.items():
        told: Words = {}
        left = []
        for row in _single(section, rows):
            said = _words(row, fields, told)
            if told.keys() & said.keys() or not _says(said, row, known, fields):
                left.append(row)
            else:
                told |= said
        if left and section in ORDERED:
            told, left = {}, [{section: rows}]
        words |= told
        carried += [json.dumps(row, sort_keys=True) for row in left]
    return words, carried


def carried_said(carried: Sequence[str]) -> list[tuple[str, str]]:
    """Each carried row with the line that tells it; what cannot be read is not among them."""
    found = []
    for text in carried:
        try:
            lines = list(scenario_said(changes_from(_read(text), ANYTHING)))
        except (Invalid, Problems):
            continue
        found.append((text, "; ".join(lines)))
    return found


def with_carried(changes: dict[str, Any], carried: Sequence[str]) -> dict[str, Any]:
    """The form's scenario with the carried rows behind its own; a field goes before a number.

    Raises:
        Invalid: a carried row is not one of ours.
    """
    found = dict(changes)
    for text in carried:
        for section, rows in _read(text).items():
            if section == "numbers" and isinstance(rows, Mapping):
                found[section] = {**rows, **found.get(section, {})}
            elif isinstance(rows, list):
                found[section] = [*found.get(section, ()), *rows]
            else:
                found[section] = rows
    return found


class _Anything(frozenset[str]):
    """Every name is in it: whether it is known is judged when the scenario is asked."""

    def __contains__(self, word: object) -> bool:
        return True


ANYTHING = Known(
    partitions=_Anything(), models=_Anything(), templates=_Anything(), teams=_Anything()
)


def _read(text: str) -> dict[str, Any]:
    try:
        row = json.loads(text) if len(text) <= MOST_LETTERS else None
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise Invalid(changes=_("What was taken over cannot be read: copy it again."))
    return row


def _single(section: str, rows: Any) -> list[dict[str, Any]]:
    """A section in single rows, each a scenario of its own."""
    if isinstance(rows, Mapping):
        return [{section: {name: value}} for name, value in rows.items()]
    return [{section: [row]} for row in rows]


def _says(said: Words, row: Mapping[str, Any], known: Known, fields: Collection[str]) -> bool:
    """Whether there are such fields and they say this row and no other."""
    if not said or not set(fields).issuperset(said):
        return False
    try:
        return changes_from(changes_from_form(said), known) == row
    except Problems:
        return False


def _words(one: Mapping[str, Any], fields: Collection[str], told: Words) -> Words:
    """One row as the words of the fields that come next to it."""
    (section, rows), *_none = one.items()
    if section == "numbers":
        return {f"number:{name}": _word(value) for name, value in rows.items()}
    row = rows[0]
    match section:
        case "cards":
            return _cards(row, fields, told)
        case "quotas":
            return {f"{row['kind']}:{row['team']}": _short(row["cards"])}
        case "priorities":
            return {f"class:{row['team']}": row["priority"]}
        case "prices":
            return {f"price:{row['partition']}|{row['model']}": str(row["percent"])}
        case "templates":
            return _template(row["template"], row["need"])
    return {name: _word(row[name]) for name in SWITCHES if name in row}


def _cards(row: Mapping[str, Any], fields: Collection[str], told: Words) -> Words:
    key, count = f"cards:{row['partition']}|{row['model']}", str(row["count"])
    if key in fields:
        return {key: count}
    fresh = sum(name.startswith("fresh_count:") for name in told)
    return {
        f"fresh_place:{fresh}": row["partition"],
        f"fresh_model:{fresh}": row["model"],
        f"fresh_count:{fresh}": count,
    }


def _template(slug: str, need: Mapping[str, Any]) -> Words:
    if need.get("whole"):
        return {f"cards_each:{slug}": str(need["parts"])}
    words = {f"memory:{slug}": str(need.get("memory_gb") or "")}
    if need.get("compute_milli"):
        words[f"compute:{slug}"] = _short(need["compute_milli"] / 10)
    return words


def _word(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
