"""Pure: when work that waits for other work may start, and when it never will."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pool.lifecycle.workloads import ENDED, WorkloadState

MOST_AFTER = 100
"""How many others one piece of work may wait for."""


class Rule(StrEnum):
    """What the other must have done."""

    SUCCESS = "success"
    END = "end"
    SHARE = "share"


class Verdict(StrEnum):
    """How one rule stands now."""

    OPEN = "open"
    MET = "met"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Pieces:
    """An array's pieces: how many there are, have succeeded, and may still succeed."""

    size: int
    done: int
    live: int


def judged(
    rule: Rule, state: WorkloadState, *, pieces: Pieces | None = None, share_milli: int = 0
) -> Verdict:
    """How the rule stands for another in this state.

    A stopped or reclaimed one has ended: nothing waits for a resume that may never come. A share
    is met as soon as so many pieces have succeeded, and broken as soon as too few are left.
    """
    if rule is Rule.SHARE and pieces is not None:
        wanted = needed(pieces.size, share_milli)
        if pieces.done >= wanted:
            return Verdict.MET
        over = state in ENDED or pieces.done + pieces.live < wanted
        return Verdict.BROKEN if over else Verdict.OPEN
    if state not in ENDED:
        return Verdict.OPEN
    if rule is Rule.END or state is WorkloadState.SUCCEEDED:
        return Verdict.MET
    return Verdict.BROKEN


def needed(size: int, share_milli: int) -> int:
    """How many pieces a share (in thousandths) of so many is: rounded up, at least one."""
    return max(1, -(-size * share_milli // 1000))


def in_a_circle(edges: Mapping[int, frozenset[int]], start: int) -> bool:
    """Whether work waits for itself: `edges` lead from each to those it waits for."""
    seen: set[int] = set()
    edge = set(edges.get(start, ()))
    while edge:
        if start in edge:
            return True
        seen |= edge
        edge = {after for one in edge for after in edges.get(one, ())} - seen
    return False
