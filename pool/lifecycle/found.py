"""The life of work that a node runs and the books do not know."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class FoundState(StrEnum):
    """Where found work stands."""

    RUNNING = "running"
    STOPPING = "stopping"
    ADOPTED = "adopted"
    OVER = "over"


F = FoundState

FOUND = Lifecycle(
    name="foundwork",
    first=F.RUNNING,
    moves={
        F.RUNNING: frozenset({F.STOPPING, F.ADOPTED, F.OVER}),
        F.STOPPING: frozenset({F.OVER}),
        F.ADOPTED: frozenset(),
        F.OVER: frozenset(),
    },
    passing={F.STOPPING: "its own grace; wanted until its node says that it is gone and clean"},
)
