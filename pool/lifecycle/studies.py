"""The life of a what-if: it waits for the one worker, runs, and ends."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class StudyState(StrEnum):
    """Where a what-if stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StudyKind(StrEnum):
    """What is asked: what a scenario would change, or how many cards keep the wait short."""

    SCENARIO = "scenario"
    CARDS = "cards"


class Share(StrEnum):
    """Who else reads it: nobody, who runs its organization, or everybody who plans capacity."""

    PRIVATE = "private"
    ORGANIZATION = "organization"
    PLATFORM = "platform"


class TraceSource(StrEnum):
    """Where recorded work comes from: this installation's books, or a file."""

    BOOKS = "books"
    FILE = "file"


S = StudyState

STUDY = Lifecycle(
    name="study",
    first=S.WAITING,
    moves={
        S.WAITING: frozenset({S.RUNNING, S.CANCELLED}),
        S.RUNNING: frozenset({S.WAITING, S.DONE, S.FAILED, S.CANCELLED}),
        S.DONE: frozenset(),
        S.FAILED: frozenset(),
        S.CANCELLED: frozenset(),
    },
    passing={S.RUNNING: "180 s after its last word, then it waits again, at most three times"},
)
