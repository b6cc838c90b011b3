"""The life of a workload."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class WorkloadState(StrEnum):
    """Where a workload stands; an array is `active` while its pieces are worked through."""

    AWAITING_APPROVAL = "awaiting_approval"
    QUEUED = "queued"
    ON_HOLD = "on_hold"
    ACTIVE = "active"
    PLACED = "placed"
    STARTING = "starting"
    RUNNING = "running"
    PREEMPTING = "preempting"
    STOPPING = "stopping"
    UNREACHABLE = "unreachable"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    STOPPED = "stopped"
    RECLAIMED = "reclaimed"
    DEPENDENCY_FAILED = "dependency_failed"


W = WorkloadState

WORKLOAD = Lifecycle(
    name="workload",
    first=W.QUEUED,
    also_first=frozenset({W.AWAITING_APPROVAL, W.ACTIVE}),
    moves={
        W.AWAITING_APPROVAL: frozenset({W.QUEUED, W.ACTIVE, W.CANCELLED, W.DEPENDENCY_FAILED}),
        W.QUEUED: frozenset(
            {W.ON_HOLD, W.PLACED, W.CANCELLED, W.EXPIRED, W.FAILED, W.DEPENDENCY_FAILED}
        ),
        W.ON_HOLD: frozenset({W.QUEUED, W.ACTIVE, W.CANCELLED, W.DEPENDENCY_FAILED}),
        W.ACTIVE: frozenset(
            {W.ON_HOLD, W.SUCCEEDED, W.FAILED, W.CANCELLED, W.STOPPED, W.DEPENDENCY_FAILED}
        ),
        W.PLACED: frozenset({W.STARTING, W.QUEUED, W.FAILED, W.STOPPING, W.UNREACHABLE}),
        W.STARTING: frozenset(
            {W.RUNNING, W.QUEUED, W.FAILED, W.STOPPING, W.PREEMPTING, W.UNREACHABLE}
        ),
        W.RUNNING: frozenset(
            {W.SUCCEEDED, W.FAILED, W.QUEUED, W.STOPPING, W.PREEMPTING, W.UNREACHABLE}
        ),
        W.PREEMPTING: frozenset({W.QUEUED, W.SUCCEEDED, W.FAILED, W.STOPPING, W.UNREACHABLE}),
        W.STOPPING: frozenset(
            {
                W.SUCCEEDED,
                W.FAILED,
                W.CANCELLED,
                W.EXPIRED,
                W.STOPPED,
                W.RECLAIMED,
                W.QUEUED,
                W.UNREACHABLE,
            }
        ),
        W.UNREACHABLE: frozenset(
            {
                W.STARTING,
                W.RUNNING,
                W.STOPPING,
                W.PREEMPTING,
                W.SUCCEEDED,
                W.FAILED,
                W.QUEUED,
                W.CANCELLED,
                W.EXPIRED,
                W.STOPPED,
                W.RECLAIMED,
            }
        ),
        W.STOPPED: frozenset({W.QUEUED, W.ACTIVE}),
        W.RECLAIMED: frozenset({W.QUEUED}),
        W.SUCCEEDED: frozenset(),
        W.FAILED: frozenset({W.QUEUED, W.ACTIVE}),
        W.CANCELLED: frozenset(),
        W.EXPIRED: frozenset(),
        W.DEPENDENCY_FAILED: frozenset(),
    },
    passing={
        W.PLACED: "30 s, then back to the queue or failed",
        W.STARTING: "the template's start limit, then a failed start",
        W.PREEMPTING: "notice + 30 s, then killed",
        W.STOPPING: "grace + 30 s, then killed",
        W.UNREACHABLE: "24 h, then an alert asks a person; nothing ends by itself",
    },
)

HOLDING = frozenset({W.PLACED, W.STARTING, W.RUNNING, W.PREEMPTING, W.STOPPING, W.UNREACHABLE})
"""States in which a workload has an open placement."""

WAITING = frozenset({W.AWAITING_APPROVAL, W.QUEUED, W.ON_HOLD})
"""States in which nothing is held yet. An array that is active holds nothing itself."""

OPEN = WAITING | HOLDING | {W.ACTIVE}
"""States in which something may still come of it by itself."""

ENDED = frozenset(
    {
        W.SUCCEEDED,
        W.FAILED,
        W.CANCELLED,
        W.EXPIRED,
        W.STOPPED,
        W.RECLAIMED,
        W.DEPENDENCY_FAILED,
    }
)
"""States in which nothing is held any more; what was stopped, reclaimed or failed may go on."""


PREEMPT_NOTICE_S = 60
"""Seconds between the order to give way and the kill, where the order names no other."""


class AttemptState(StrEnum):
    """One run of a workload."""

    OPEN = "open"
    ENDED = "ended"


ATTEMPT = Lifecycle(
    name="attempt",
    first=AttemptState.OPEN,
    moves={
        AttemptState.OPEN: frozenset({AttemptState.ENDED}),
        AttemptState.ENDED: frozenset(),
    },
)
