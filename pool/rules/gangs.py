"""Pure: how a gang ends when its ranks have ended, and who of them brought the end about."""

from collections.abc import Sequence
from dataclasses import dataclass

from nodeagent.protocol.vocabulary import ExitReason

GANG_TOPOLOGIES = frozenset({"network", "whole_nodes", "spread", "anywhere"})
"""Needs that may lie on several nodes; told of their gang even where one node is enough."""

ORDERED = frozenset(
    {
        ExitReason.RANK_DIED,
        ExitReason.CANCELLED,
        ExitReason.STOPPED,
        ExitReason.PREEMPTED,
        ExitReason.RECLAIMED,
    }
)
"""Ends that the portal ordered: a rank that ended so did not bring its gang down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankEnd:
    """How one rank ended, as far as its node told; `ended_s` in seconds since the epoch."""

    rank: int
    node: str
    started: bool
    exit_code: int | None
    reason: str
    message: str
    ended_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GangEnd:
    """How the whole ended; `culprit` is the rank that brought it about, None when all went well."""

    exit_code: int | None
    reason: ExitReason | None
    culprit: RankEnd | None = None


def went_well(*, exit_code: int | None, reason: str) -> bool:
    """Whether a rank ended by itself without an error: the others go on without it."""
    return exit_code in (0, None) and reason in ("", ExitReason.FINISHED)


def gang_end(ranks: Sequence[RankEnd]) -> GangEnd:
    """The whole went well when each rank did; else the first that died by itself speaks for it.

    Where each that did not finish was told to stop, rank 0 speaks, or the lowest of these.
    """
    bad = [
        one
        for one in ranks
        if not went_well(exit_code=one.exit_code, reason=one.reason) or not one.started
    ]
    if not bad:
        return GangEnd(exit_code=0, reason=ExitReason.FINISHED)
    own = [one for one in bad if one.reason not in ORDERED]
    first = min(own or bad, key=lambda one: (one.ended_s if own else 0.0, one.rank))
    reason = ExitReason(first.reason) if first.reason else None
    return GangEnd(exit_code=first.exit_code, reason=reason, culprit=first if own else None)
