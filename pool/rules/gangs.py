"""Pure: how a gang ends when its ranks have ended, and who of them brought the end about."""

from collections.abc import Sequence
from dataclasses import dataclass

from nodeagent.protocol.vocabulary import ExitReason
from pool.lifecycle.roles import RankDeath
from pool.rules.problems import Problem
from pool.rules.problems import marked as _

GANG_TOPOLOGIES = frozenset({"network", "whole_nodes", "spread", "anywhere"})
"""Needs that may lie on several nodes; told of their gang even where one node is enough."""

RESTARTS = 3
"""How often a gang that restarts does so where nobody says how often."""

LONGEST_RENDEZVOUS_S = 86_400

ORDERED = frozenset(
    {
        ExitReason.RANK_DIED,
        ExitReason.CANCELLED,
        ExitReason.LIMIT,
        ExitReason.STOPPED,
        ExitReason.PREEMPTED,
        ExitReason.RECLAIMED,
    }
)
"""Ends that the portal ordered: a rank that ended so did not bring its gang down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """What a person says of work on several nodes, beside its need. Times in seconds."""

    on_rank_death: str = RankDeath.FAIL
    rendezvous_seconds: int = 600

    def runs(self, asked: int) -> int:
        """How often it is run again: a gang that restarts does so a few times unless told."""
        return asked or (RESTARTS if self.on_rank_death == RankDeath.RESTART else 0)


def gang_problems(gang: Gang) -> dict[str, Problem]:
    """What is wrong with it, by field."""
    wrong: dict[str, Problem] = {}
    if gang.on_rank_death not in list(RankDeath):
        words = {"known": ", ".join(RankDeath)}
        wrong["on_rank_death"] = Problem(_("Choose from: %(known)s."), words)
    if not 1 <= gang.rendezvous_seconds <= LONGEST_RENDEZVOUS_S:
        limits = {"least": 1, "most": LONGEST_RENDEZVOUS_S}
        text = _("A whole number from %(least)s to %(most)s is needed.")
        wrong["rendezvous_seconds"] = Problem(text, limits)
    return wrong


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
