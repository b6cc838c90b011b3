"""PURE: a scenario as somebody may read it who does not know every name in it."""

from collections.abc import Mapping
from typing import Any

from pool.rules.whatif.changes import Known

NAMED = ("team", "template", "partition")


def shown(changes: Mapping[str, Any], known: Known) -> tuple[dict[str, Any], int]:
    """The rows that name nothing unknown, and how many others there are."""
    found: dict[str, Any] = {}
    hidden = 0
    for section, rows in changes.items():
        if isinstance(rows, Mapping):
            found[section] = rows
            continue
        kept = [row for row in rows if _known(row, known)]
        hidden += len(rows) - len(kept)
        if kept:
            found[section] = kept
    return found, hidden


def _known(row: Mapping[str, Any], known: Known) -> bool:
    for field in NAMED:
        names, word = getattr(known, f"{field}s"), row.get(field)
        if word and names is not None and word not in names:
            return False
    return True
