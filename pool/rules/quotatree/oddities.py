"""What is odd about a tree of limits: over, larger than above, more promised than there is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Oddity(StrEnum):
    """What may be said of one level; nothing of it is refused: the strictest level counts."""

    OVER = "over"
    ABOVE_PARENT = "above_parent"
    ALLOWANCE_ABOVE_LIMIT = "allowance_above_limit"
    GUARANTEES_ABOVE_PARENT = "guarantees_above_parent"
    GUARANTEES_ABOVE_CARDS = "guarantees_above_cards"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One tenant's numbers of one unit in one partition, in the unit; None where no row is.

    `said` is by kind: limit, allowance, entitlement (what leases and requests may come to; as far
    as the own limit lets it in it is the guarantee). `key` is unique in the tree.
    """

    key: str
    parent: str | None
    held: int
    said: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """One oddity of one level, with by how much; `new` when a change brings or worsens it."""

    key: str
    what: Oddity
    by: int
    new: bool = False


def guaranteed(levels: Sequence[Level]) -> list[Level]:
    """The same levels with the guarantee in place of what may be promised."""
    found = []
    for one in levels:
        promised, limit = one.said.get("entitlement"), one.said.get("limit")
        least = promised if promised is None or limit is None else min(promised, limit)
        said = {**one.said, "entitlement": least}
        found.append(Level(key=one.key, parent=one.parent, held=one.held, said=said))
    return found


def sums(levels: Iterable[Level], kind: str) -> dict[str, int]:
    """What the children of each level are given together; levels without such children lack."""
    found: dict[str, int] = {}
    for one in levels:
        value = one.said.get(kind)
        if one.parent is not None and value is not None:
            found[one.parent] = found.get(one.parent, 0) + value
    return found


def findings(levels: Sequence[Level], *, capacity: int | None = None) -> list[Finding]:
    """Everything odd, level by level; `capacity` is what the partition has of the unit."""
    levels = guaranteed(levels)
    by_key = {one.key: one for one in levels}
    promised = sums(levels, "entitlement")
    found: list[Finding] = []
    for one in levels:
        found += _own(one)
        found += _beside_parent(one, by_key)
        found += _more(one.key, promised.get(one.key), one.said.get("entitlement"))
    roots = [one.said.get("entitlement") or 0 for one in levels if one.parent is None]
    if capacity is not None and sum(roots) > capacity:
        found.append(Finding("", Oddity.GUARANTEES_ABOVE_CARDS, sum(roots) - capacity))
    return found


def _own(one: Level) -> Iterable[Finding]:
    limit = one.said.get("limit")
    if limit is None:
        return
    if one.held > limit:
        yield Finding(one.key, Oddity.OVER, one.held - limit)
    value = one.said.get("allowance")
    if value is not None and value > limit:
        yield Finding(one.key, Oddity.ALLOWANCE_ABOVE_LIMIT, value - limit)


def _beside_parent(one: Level, by_key: Mapping[str, Level]) -> Iterable[Finding]:
    """A limit above that of the nearest level over it that has one: the stricter counts."""
    limit, above = one.said.get("limit"), one.parent
    while limit is not None and above is not None:
        most = by_key[above].said.get("limit")
        if most is not None:
            if limit > most:
                yield Finding(one.key, Oddity.ABOVE_PARENT, limit - most)
            return
        above = by_key[above].parent


def _more(key: str, together: int | None, own: int | None) -> Iterable[Finding]:
    if together is not None and own is not None and together > own:
        yield Finding(key, Oddity.GUARANTEES_ABOVE_PARENT, together - own)


def compared(before: Sequence[Finding], after: Sequence[Finding]) -> list[Finding]:
    """The findings after a change, those that it brings or worsens marked as new."""
    known = {(one.key, one.what): one.by for one in before}
    return [
        Finding(one.key, one.what, one.by, new=one.by > known.get((one.key, one.what), 0))
        for one in after
    ]
