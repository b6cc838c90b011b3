"""The life of a schedule, and what became of each of its times."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class ScheduleState(StrEnum):
    """Where a schedule stands."""

    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


S = ScheduleState

SCHEDULE = Lifecycle(
    name="schedule",
    first=S.ACTIVE,
    moves={
        S.ACTIVE: frozenset({S.PAUSED, S.ENDED}),
        S.PAUSED: frozenset({S.ACTIVE, S.ENDED}),
        S.ENDED: frozenset(),
    },
)


class Outcome(StrEnum):
    """What became of one time of a schedule; `refused` says that the submission was not taken."""

    STARTED = "started"
    SKIPPED = "skipped"
    MISSED = "missed"
    REFUSED = "refused"
