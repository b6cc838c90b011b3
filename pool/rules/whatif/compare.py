"""PURE: two outcomes side by side: who gains, who loses."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

LEAST_S = 60.0
LEAST_SHARE = 0.05
"""A wait that changes by less than a minute, or by less than a twentieth, is the same."""


class Lot(StrEnum):
    """What becomes of a team."""

    GAINS = "gains"
    LOSES = "loses"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Fared:
    """One team before and after: its figures, and what becomes of it."""

    team: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    lot: Lot


def compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Fared]:
    """Every team of either outcome: who gains most first, who loses most last."""
    nothing: dict[str, Any] = {}
    names = sorted(set(before) | set(after))
    rows = [(name, before.get(name, nothing), after.get(name, nothing)) for name in names]
    found = [Fared(name, was, then, lot(was, then)) for name, was, then in rows]
    order = {Lot.GAINS: 0, Lot.SAME: 1, Lot.LOSES: 2}
    return sorted(found, key=lambda one: (order[one.lot], _change(one), one.team))


def lot(before: Mapping[str, Any], after: Mapping[str, Any]) -> Lot:
    """By work that finds no place at all, then by the 95 % wait, then by the mean wait."""
    never = (after.get("never") or 0) - (before.get("never") or 0)
    if never:
        return Lot.LOSES if never > 0 else Lot.GAINS
    for name in ("p95_wait_s", "mean_wait_s"):
        was, then = before.get(name), after.get(name)
        if was is None or then is None:
            continue
        if abs(then - was) >= max(LEAST_S, LEAST_SHARE * max(was, then)):
            return Lot.GAINS if then < was else Lot.LOSES
    return Lot.SAME


def _change(one: Fared) -> float:
    was, then = one.before.get("p95_wait_s"), one.after.get("p95_wait_s")
    return float((then or 0.0) - (was or 0.0))
