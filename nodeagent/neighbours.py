"""PURE: ends on one shared card that came so close together that none of them can be blamed.

Where cards are shared without a wall of hardware, one process that faults takes all others with
it: each of them dies with an error of its own, seconds apart, and nobody can tell who began.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nodeagent.protocol.vocabulary import MODE_ISOLATION, UNISOLATED, ExitReason, Mode

NEAR_S = 3.0
"""Ends of one card within this belong together."""

OWN_ENDS = frozenset({ExitReason.OWN_ERROR, ExitReason.KILLED})
"""Ends that a fault of a neighbour looks like. What was stopped, or ran out of memory, is known."""

SHARED = frozenset(mode for mode in Mode if MODE_ISOLATION[mode] in UNISOLATED)


@dataclass(frozen=True)
class Mate:
    """One attempt on this node. `cards` are those that it shares without a wall; `ended_at` is
    None while it runs; `failed` says that it ended by itself and badly.
    """

    attempt: str
    workload: str
    cards: frozenset[str]
    ended_at: float | None
    failed: bool


def beside(mine: Mate, others: Iterable[Mate]) -> list[Mate]:
    """Other workloads on one of its cards that run, or that ended no earlier than `NEAR_S` before
    or after it.
    """
    return [
        one
        for one in others
        if one.workload != mine.workload and one.cards & mine.cards and _near(mine, one)
    ]


def struck(mine: Mate, others: Iterable[Mate]) -> list[Mate]:
    """Those that failed together with it; empty when it failed alone, or did not fail."""
    return [one for one in beside(mine, others) if mine.failed and one.failed]


def _near(mine: Mate, other: Mate) -> bool:
    if mine.ended_at is None or other.ended_at is None:
        return True
    return abs(mine.ended_at - other.ended_at) <= NEAR_S
