"""The life of a placement: open while it holds, then closed."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class PlacementState(StrEnum):
    """Where a placement stands."""

    OPEN = "open"
    CLOSED = "closed"


PLACEMENT = Lifecycle(
    name="placement",
    first=PlacementState.OPEN,
    moves={
        PlacementState.OPEN: frozenset({PlacementState.CLOSED}),
        PlacementState.CLOSED: frozenset(),
    },
)
