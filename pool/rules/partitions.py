"""Selectors: which cards belong to a partition, and that no card can belong to two."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nodeagent.protocol.vocabulary import Mode
from pool.rules.problems import Problem, Problems
from pool.rules.problems import marked as _

KEYS = ("vendors", "labels", "nodes", "cards")
"""What a selector may name: vendors, card labels, node names, card UUIDs; all given must match."""

POLICIES = ("binpack", "spread", "fragmentation")
FOREIGN_WORK = ("block", "alert", "tolerate")
"""A card that people use without the pool is not offered; is offered, and told of; is offered."""

CONTESTED, WELL = "contested", "ok"


def health_counted(told: str, foreign_work: str | None) -> str:
    """What a node's word on a card counts for, by what its partition does about foreign work.

    A card in no partition is not offered with it.
    """
    return WELL if told == CONTESTED and foreign_work in ("alert", "tolerate") else told


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a selector looks at; the node's name is compared casefolded."""

    vendor: str
    label: str
    node: str
    card: str


def selector_from(given: Any) -> dict[str, tuple[str, ...]]:
    """A selector as it is stored: every key a list of names. Raises Problems."""
    if not isinstance(given, Mapping):
        raise Problems(
            {"selector": Problem(_("A selector names vendors, labels, nodes or cards."))}
        )
    wrong: dict[str, Problem] = {}
    found: dict[str, tuple[str, ...]] = {}
    for key, names in given.items():
        if key not in KEYS:
            wrong["selector"] = Problem(
                _("A selector knows only these words: %(known)s."), {"known": ", ".join(KEYS)}
            )
        elif not _names(names):
            wrong["selector"] = Problem(
                _("%(key)s must be a list of 1 to 256 names."), {"key": key}
            )
        else:
            found[key] = tuple(dict.fromkeys(names))
    if wrong:
        raise Problems(wrong)
    return found


def matches(selector: Mapping[str, Any], traits: Traits) -> bool:
    """Whether a card belongs; an empty selector takes no card at all."""
    if not selector:
        return False
    seen = {
        "vendors": traits.vendor,
        "labels": traits.label,
        "nodes": traits.node.casefold(),
        "cards": traits.card,
    }
    return all(seen[key] in _folded(key, names) for key, names in selector.items())


def disjoint(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether no card, known or not, can match both: some word they share has no name in common."""
    if not one or not other:
        return True
    return any(not _folded(key, one[key]) & _folded(key, other[key]) for key in one.keys() & other)


def modes_from(given: Any) -> tuple[str, ...]:
    """The modes a partition offers, without repeats. Raises Problems."""
    known = [mode.value for mode in Mode]
    if (
        not isinstance(given, (list, tuple))
        or not given
        or not all(isinstance(one, str) and one in known for one in given)
    ):
        raise Problems(
            {"modes": Problem(_("Choose from: %(known)s."), {"known": ", ".join(known)})}
        )
    return tuple(dict.fromkeys(given))


def _names(names: Any) -> bool:
    return (
        isinstance(names, (list, tuple))
        and 0 < len(names) <= 256
        and all(isinstance(one, str) and 0 < len(one) <= 253 for one in names)
    )


def _folded(key: str, names: Any) -> frozenset[str]:
    return frozenset(one.casefold() if key == "nodes" else one for one in names)
