"""The life of an alert. A silence is a row of its own, not a state."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class AlertState(StrEnum):
    """Where an alert stands."""

    PENDING = "pending"
    FIRING = "firing"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


A = AlertState

ALERT = Lifecycle(
    name="alert",
    first=A.PENDING,
    moves={
        A.PENDING: frozenset({A.FIRING, A.RESOLVED}),
        A.FIRING: frozenset({A.ACKNOWLEDGED, A.RESOLVED}),
        A.ACKNOWLEDGED: frozenset({A.FIRING, A.RESOLVED}),
        A.RESOLVED: frozenset(),
    },
    passing={A.PENDING: "the rule's own `for` time, then firing"},
)
