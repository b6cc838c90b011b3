"""The life of a lease."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class LeaseState(StrEnum):
    """Where a lease stands."""

    ACTIVE = "active"
    ENDING = "ending"
    ENDED = "ended"


class LeaseKind(StrEnum):
    """On demand shows an expected start; reserved is paid from the start and lent while idle."""

    ON_DEMAND = "on_demand"
    RESERVED = "reserved"


class LeaseChange(StrEnum):
    """What a request may ask of a lease that is in force."""

    EXTEND = "extend"
    RESIZE = "resize"


L = LeaseState

LEASE = Lifecycle(
    name="lease",
    first=L.ACTIVE,
    moves={
        L.ACTIVE: frozenset({L.ENDING}),
        L.ENDING: frozenset({L.ENDED}),
        L.ENDED: frozenset(),
    },
    passing={L.ENDING: "24 h of low-priority grace for running work, then ended"},
)
