"""Pure: what to do at the times of a schedule that have come, given its two policies."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

LATE = timedelta(minutes=5)
"""A time handled later than this was missed: the pool was away, not merely busy."""

MOST_LOOKED_BACK = 100
"""Of a long absence so many newest times are written down one by one."""


class Overlap(StrEnum):
    """What happens when the run before still lives."""

    SKIP = "skip"
    QUEUE = "queue"
    REPLACE = "replace"


class Missed(StrEnum):
    """What happens to times that passed while the pool was away."""

    ONCE = "once"
    SKIP = "skip"


class Act(StrEnum):
    """What one time leads to."""

    RUN = "run"
    RUN_AFTER = "run_after"
    REPLACE = "replace"
    SKIP = "skip"
    MISS = "miss"


@dataclass(frozen=True, slots=True)
class Turn:
    """One time that has come, and what to do about it."""

    due: datetime
    act: Act


def turns(
    due: Sequence[datetime], *, at: datetime, overlap: Overlap, missed: Missed, busy: bool
) -> tuple[Turn, ...]:
    """What to do about each time that has come, oldest first; at most one of them runs.

    `busy` says that an earlier run still lives. Only the newest can run; older ones were missed.
    The newest was missed too when it is more than five minutes late: then it runs only where the
    policy says "once".
    """
    if not due:
        return ()
    *older, newest = due
    runs = at - newest <= LATE or missed is Missed.ONCE
    if not runs:
        last = Act.MISS
    elif not busy:
        last = Act.RUN
    else:
        last = {
            Overlap.SKIP: Act.SKIP,
            Overlap.QUEUE: Act.RUN_AFTER,
            Overlap.REPLACE: Act.REPLACE,
        }[overlap]
    return (*(Turn(one, Act.MISS) for one in older), Turn(newest, last))
