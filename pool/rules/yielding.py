"""Pure: who may be told to give way, how long it has, and what that costs."""

from dataclasses import dataclass
from datetime import datetime
from math import ceil

from pool.lifecycle.roles import Priority, WorkClass
from pool.lifecycle.workloads import WorkloadState
from pool.lifecycle.yielding import YieldKind, YieldOutcome

SERVING = frozenset({WorkClass.INFERENCE})
TRAINING = frozenset({WorkClass.PRETRAINING, WorkClass.TRAINING})
"""Classes that requirement S6 binds: no order before one checkpoint has been seen."""

HANDOVER_S = 60.0
"""How much longer than the orders last the freed room is kept for the winner."""

STRENGTH = {
    Priority.CRITICAL: 4,
    Priority.HIGH: 3,
    Priority.NORMAL: 2,
    Priority.LOW: 1,
    Priority.SCAVENGER: 0,
}
ORDINARY = frozenset({Priority.NORMAL})
"""Classes of which only a part of a project's work may be interrupted at a time."""

MARKED = frozenset({Priority.NORMAL, Priority.HIGH})
"""Classes that give way to a higher one only where the work is marked preemptible."""

AT_ONCE_S = 5.0
"""So long, in seconds, scavengers have at the most: they soak up idle time and leave at once."""

MICRO = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Running work as far as it decides whether it may be told to leave.

    `late` says that it runs past the time it declared and the grace after it, `fresh` that it has
    not run for its template's minimum, `lends` that its partition preempts, `returns` that it lends
    to those who own nothing there, `swaps` that it serves on mixed cards whose share training may
    take back, `kept` that it lies on cards kept for the winner.
    """

    priority: Priority
    work_class: WorkClass
    preemptible: bool
    checkpointed: bool
    entitled: bool
    late: bool
    fresh: bool = False
    lends: bool = True
    returns: bool = True
    swaps: bool = False
    kept: bool = False


def serves(work_class: str, kind: str) -> bool:
    """Whether requests come in that have to be led elsewhere first."""
    return work_class in SERVING or kind == "replica"


def notice_s(
    *,
    hand_back: bool,
    serving: bool,
    scavenges: bool,
    grace_s: float,
    give_back_s: float,
    drain_s: float,
) -> float:
    """How long work has to leave, in seconds: the one answer of plans and of orders.

    Scavengers leave at once, whatever they hold; borrowed cards go back within their partition's
    own time; what serves requests is drained first, `drain_s` at the least; everything else has
    the grace of its template.
    """
    if scavenges:
        return min(grace_s, AT_ONCE_S)
    if hand_back:
        return give_back_s
    return max(grace_s, drain_s) if serving else grace_s


def refusal(victim: Holder, winner: Priority, kind: YieldKind, *, trains: bool = False) -> str:
    """Why this order may not be given; empty when it may. Asked again under the locks.

    Whom the planner chooses is never refused here for what the planner has seen. `trains` says
    that the winner is training.
    """
    if victim.priority is Priority.CRITICAL:
        return "critical work never gives way"
    if victim.fresh:
        return "it has not run for its minimum"
    if kind is YieldKind.HAND_BACK:
        return _unlent(victim)
    if not victim.lends and not (kind is YieldKind.OVERRUN and victim.kept):
        return "its partition does not preempt"
    if kind is YieldKind.OVERRUN:
        return "" if victim.late else "it is within its declared time"
    return _unwilling(victim, winner, trains=trains)


def _unlent(victim: Holder) -> str:
    """Why it has no card of the owner's to give back; empty when it has."""
    if not victim.returns and not victim.kept:
        return "its partition does not lend"
    lent = not victim.entitled or victim.preemptible or victim.late
    return "" if lent else "it borrows nothing"


def _unwilling(victim: Holder, winner: Priority, *, trains: bool) -> str:
    """Why it does not make way for more important work; empty when it does."""
    if victim.work_class in TRAINING and not victim.checkpointed:
        return "no checkpoint of it has been seen"
    if trains and victim.swaps and victim.priority is winner:
        return ""
    if STRENGTH[victim.priority] >= STRENGTH[winner]:
        return "it is not of a lower class"
    if not victim.preemptible and victim.priority in MARKED:
        return "it is not preemptible"
    return ""


def cap(ordinary: int, share_milli: int) -> int:
    """How many of a project's running and interrupted ordinary workloads may be interrupted."""
    return ceil(share_milli * ordinary / 1000)


def over_cap(*, ordinary: int, interrupted: int, more: int, share_milli: int) -> bool:
    """Whether `more` orders would pass the cap. One winner's own set is always allowed when
    nothing of the project is interrupted yet (requirement S5)."""
    if not more or not interrupted:
        return False
    return interrupted + more > cap(ordinary, share_milli)


def lost_card_s(*, card_micro: int, saved_at: datetime, now: datetime) -> float:
    """Card-seconds since the last checkpoint, or the start, that leaving now throws away."""
    return card_micro / MICRO * max(0.0, (now - saved_at).total_seconds())


def outcome(state: WorkloadState, *, lost: bool) -> YieldOutcome:
    """How an order ended, from where its workload went."""
    if lost:
        return YieldOutcome.LOST
    if state is WorkloadState.QUEUED:
        return YieldOutcome.RELEASED
    return YieldOutcome.FINISHED if state is WorkloadState.SUCCEEDED else YieldOutcome.ENDED
