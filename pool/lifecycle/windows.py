"""The life of a maintenance window."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class WindowState(StrEnum):
    """Where a maintenance window stands."""

    PLANNED = "planned"
    ACTIVE = "active"
    ENDED = "ended"
    CANCELLED = "cancelled"


class WithRunning(StrEnum):
    """What happens at its start to work that still runs there.

    WAIT lets it end by itself, PREEMPT sends it back to the queue after a notice, STOP stops it
    for its owner to resume.
    """

    WAIT = "wait"
    PREEMPT = "preempt"
    STOP = "stop"


W = WindowState

WINDOW = Lifecycle(
    name="window",
    first=W.PLANNED,
    moves={
        W.PLANNED: frozenset({W.ACTIVE, W.CANCELLED}),
        W.ACTIVE: frozenset({W.ENDED}),
        W.ENDED: frozenset(),
        W.CANCELLED: frozenset(),
    },
    passing={W.PLANNED: "until its start, then active"},
)
