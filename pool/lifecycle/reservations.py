"""The life of a reservation."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class ReservationState(StrEnum):
    """Where a reservation stands."""

    ASKED = "asked"
    CONFIRMED = "confirmed"
    ACTIVE = "active"
    ENDED = "ended"
    CANCELLED = "cancelled"


V = ReservationState

RESERVATION = Lifecycle(
    name="reservation",
    first=V.ASKED,
    moves={
        V.ASKED: frozenset({V.CONFIRMED, V.CANCELLED}),
        V.CONFIRMED: frozenset({V.ACTIVE, V.CANCELLED}),
        V.ACTIVE: frozenset({V.ENDED, V.CANCELLED}),
        V.ENDED: frozenset(),
        V.CANCELLED: frozenset(),
    },
)
