"""Pure: what becomes of a workload when one of its attempts has ended."""

from dataclasses import dataclass, replace

from nodeagent.protocol.vocabulary import ExitReason
from pool.lifecycle.workloads import WorkloadState

MOST_STRUCK = 3
"""How often work that ended together with its neighbours starts again for nothing. From then on it
uses its retries: the one that takes all others with it must not do so for ever."""

FIRST_WAIT_S = 10
LONGEST_WAIT_S = 600

STOPPED_AS = {
    ExitReason.CANCELLED: WorkloadState.CANCELLED,
    ExitReason.STOPPED: WorkloadState.STOPPED,
    ExitReason.RECLAIMED: WorkloadState.RECLAIMED,
    ExitReason.PREEMPTED: WorkloadState.QUEUED,
    ExitReason.LIMIT: WorkloadState.EXPIRED,
}
"""Where a stop that the portal ordered leads, by its stored reason."""

NODE_GONE = frozenset({ExitReason.NODE_LOST, ExitReason.NODE_STOPPED, ExitReason.FENCED})
"""Ends that the node brought about: it died, was shut down, or was cut off."""

UNBILLED = NODE_GONE | {ExitReason.NEIGHBOUR}
"""Ends by which somebody else took the work's time from it: nobody pays for that attempt."""

BLAMELESS = UNBILLED | {ExitReason.PREEMPTED}
"""Ends that never use up a retry: the work did nothing wrong, and chose or was chosen to yield."""

NEVER_AGAIN = frozenset({ExitReason.LIMIT})
"""Ends that a retry cannot mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """One attempt's end as the node told it, and what the workload has left.

    `started` is false when no process of it ever ran. `failures` counts the earlier retries.
    `restarts` is what its owner chose for the death of a rank, None for work on one node. `struck`
    counts its earlier attempts that ended together with neighbours on their card.
    """

    exit_code: int | None
    reason: ExitReason | None
    started: bool
    stop_reason: str
    runs_left: int
    starts_left: int
    failures: int
    restarts: bool | None = None
    struck: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The workload's next state, why, and what a retry uses. `wait_s` is the back-off before it."""

    state: WorkloadState
    reason: ExitReason
    uses_run: bool = False
    uses_start: bool = False
    wait_s: int = 0
    billable: bool = True


def ending(end: Ended) -> Ending:
    """Judge one end.

    A stop that was ordered leads where its reason says, unless the work had finished by itself. A
    start that was given up is none where the work ran and ended all the same. A failed
    start uses a start, any other failure a run, a blameless end neither.
    """
    reason = end.reason or _reason(end)
    if reason is ExitReason.FINISHED and end.exit_code in (0, None):
        return Ending(state=WorkloadState.SUCCEEDED, reason=ExitReason.FINISHED)
    if end.stop_reason not in ("", ExitReason.RANK_DIED) and not _ran_all_the_same(end):
        return _ordered(end)
    if end.restarts is not None:
        return _gang(end, reason)
    if reason is ExitReason.NEIGHBOUR:
        return _struck(end)
    if reason in BLAMELESS:
        return Ending(state=WorkloadState.QUEUED, reason=reason, billable=reason not in UNBILLED)
    if reason is ExitReason.START_FAILED or not end.started:
        return _again(end, reason, end.starts_left, start=True)
    if reason in NEVER_AGAIN:
        return Ending(state=WorkloadState.FAILED, reason=reason)
    return _again(end, reason, end.runs_left, start=False)


def _gang(end: Ended, reason: ExitReason) -> Ending:
    """A rank died, and the whole with it: it starts again where that was chosen, else it fails.

    One that was fenced goes back: its owner chose that for a node's silence. A node that died
    before all ranks ran ended nothing that had begun. A failed start uses a start as ever.
    """
    billable = reason not in UNBILLED
    if reason in BLAMELESS and (end.restarts or not end.started or reason is ExitReason.FENCED):
        return Ending(state=WorkloadState.QUEUED, reason=reason, billable=billable)
    if reason is ExitReason.START_FAILED or not end.started:
        return _again(end, reason, end.starts_left, start=True)
    if not end.restarts or reason in NEVER_AGAIN:
        return Ending(state=WorkloadState.FAILED, reason=reason, billable=billable)
    return _again(end, reason, end.runs_left, start=False)


def _struck(end: Ended) -> Ending:
    """It waits a little longer each time: whoever is at fault may strike again."""
    why = ExitReason.NEIGHBOUR
    if end.struck >= MOST_STRUCK:
        return replace(_again(end, why, end.runs_left, start=False), billable=False)
    wait = back_off_s(end.struck)
    return Ending(state=WorkloadState.QUEUED, reason=why, billable=False, wait_s=wait)


def back_off_s(failures: int) -> int:
    """The first retry is at once, the n-th after it waits 10 s × 2ⁿ⁻¹, at most ten minutes."""
    if failures <= 0:
        return 0
    return min(LONGEST_WAIT_S, FIRST_WAIT_S << min(failures - 1, 16))


def _reason(end: Ended) -> ExitReason:
    """The reason where the node named none."""
    if end.exit_code == 0:
        return ExitReason.FINISHED
    if not end.started:
        return ExitReason.START_FAILED
    return (
        ExitReason.KILLED
        if end.exit_code is not None and end.exit_code < 0
        else ExitReason.OWN_ERROR
    )


def _ran_all_the_same(end: Ended) -> bool:
    """A start was given up of which the node could not tell: it did run, and ended by itself.

    A node that obeys such a stop says so. To start it again would do once more what it has done.
    """
    given_up = end.stop_reason == ExitReason.START_FAILED and end.exit_code is not None
    return given_up and end.reason not in (None, ExitReason.START_FAILED)


def _ordered(end: Ended) -> Ending:
    why = ExitReason(end.stop_reason)
    if why is ExitReason.START_FAILED:
        return _again(end, why, end.starts_left, start=True)
    return Ending(state=STOPPED_AS.get(why, WorkloadState.FAILED), reason=why)


def _again(end: Ended, reason: ExitReason, left: int, *, start: bool) -> Ending:
    if left <= 0:
        return Ending(state=WorkloadState.FAILED, reason=reason)
    return Ending(
        state=WorkloadState.QUEUED,
        reason=reason,
        uses_run=not start,
        uses_start=start,
        wait_s=back_off_s(end.failures),
    )
