"""Class ceilings of a partition (requirement P7): read from JSON, and what each leaves free."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pool.lifecycle.roles import WorkClass
from pool.rules.problems import Problem, Problems
from pool.rules.problems import marked as _

SCOPES = ("card_sum", "per_workload", "card_split")
"""Sum on a card of a class · the most one workload may take · the split of a mixed card."""

WORDS = frozenset({"purposes", "compute_milli", "memory_milli"})
FULL = 1000
MOST_ENTRIES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """One ceiling on one card: what its classes use of it, and what they may still take.

    In thousandths of the card; per workload nothing is summed and `used` is None.
    """

    scope: str
    purposes: tuple[str, ...]
    compute_milli: int
    memory_milli: int
    used: int | None
    left: int


def ceilings_from(given: Any) -> dict[str, list[dict[str, Any]]]:
    """{scope: [{"purposes", "compute_milli", "memory_milli"}]} as it is stored. Raises Problems."""
    if not isinstance(given, Mapping):
        raise _wrong(_("Ceilings are lists by kind: %(known)s."), known=", ".join(SCOPES))
    found: dict[str, list[dict[str, Any]]] = {}
    for scope, entries in given.items():
        if scope not in SCOPES:
            raise _wrong(_("Ceilings are lists by kind: %(known)s."), known=", ".join(SCOPES))
        if not isinstance(entries, (list, tuple)) or len(entries) > MOST_ENTRIES:
            raise _wrong(_("A kind of ceiling has at most %(most)s entries."), most=MOST_ENTRIES)
        kept = [_entry(scope, one) for one in entries]
        if kept:
            found[scope] = kept
    _split_adds_up(found.get("card_split", []))
    return found


def _entry(scope: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or set(given) - WORDS:
        raise _wrong(_("A ceiling names %(known)s."), known=", ".join(sorted(WORDS)))
    purposes = given.get("purposes")
    known = [one.value for one in WorkClass]
    if not isinstance(purposes, (list, tuple)) or not purposes or set(purposes) - set(known):
        raise _wrong(
            _("A ceiling is for one or more of these classes: %(known)s."), known=", ".join(known)
        )
    sizes = {name: given.get(name, FULL) for name in ("compute_milli", "memory_milli")}
    for value in sizes.values():
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= FULL:
            raise _wrong(_("A ceiling lies between 0.1 % and 100 % of a card."))
    if sizes["memory_milli"] != FULL and scope != "per_workload":
        raise _wrong(_("Only the ceiling per workload bounds memory."))
    if set(sizes.values()) == {FULL}:
        raise _wrong(_("A ceiling of a whole card bounds nothing."))
    return {"purposes": sorted(dict.fromkeys(purposes)), **sizes}


def _split_adds_up(entries: list[dict[str, Any]]) -> None:
    """The parts of a split card are for different classes and make no more than the card."""
    named = [purpose for one in entries for purpose in one["purposes"]]
    if len(named) != len(set(named)):
        raise _wrong(_("A class stands in one part of a split only."))
    if sum(one["compute_milli"] for one in entries) > FULL:
        raise _wrong(_("The parts of a split make more than a whole card."))


def _wrong(text: str, **values: Any) -> Problems:
    return Problems({"ceilings": Problem(text, values)})


def left_free(ceilings: Mapping[str, Any], *, held: Iterable[tuple[str, int]]) -> tuple[Left, ...]:
    """Each ceiling on a card whose holders are (class, compute in thousandths)."""
    there = list(held)
    free = max(0, FULL - sum(compute for _, compute in there))
    found = []
    for scope in SCOPES:
        for one in ceilings.get(scope, ()):
            used = None
            left = min(free, one["compute_milli"])
            if scope != "per_workload":
                used = sum(compute for purpose, compute in there if purpose in one["purposes"])
                left = max(0, min(free, one["compute_milli"] - used))
            found.append(
                Left(
                    scope=scope,
                    purposes=tuple(one["purposes"]),
                    compute_milli=one["compute_milli"],
                    memory_milli=one["memory_milli"],
                    used=used,
                    left=left,
                )
            )
    return tuple(found)
