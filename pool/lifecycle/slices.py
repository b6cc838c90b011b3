"""The life of a slice. *Held* is an open hold, not a state."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class SliceState(StrEnum):
    """Where a slice stands."""

    PLANNED = "planned"
    CREATING = "creating"
    READY = "ready"
    CLEANING = "cleaning"
    DELETING = "deleting"
    FAILED = "failed"
    LOST = "lost"
    GONE = "gone"


S = SliceState

SLICE = Lifecycle(
    name="slice",
    first=S.PLANNED,
    moves={
        S.PLANNED: frozenset({S.CREATING, S.GONE, S.LOST}),
        S.CREATING: frozenset({S.READY, S.FAILED, S.LOST}),
        S.READY: frozenset({S.CLEANING, S.DELETING, S.LOST}),
        S.CLEANING: frozenset({S.READY, S.DELETING, S.FAILED, S.LOST}),
        S.DELETING: frozenset({S.GONE, S.FAILED, S.LOST}),
        S.FAILED: frozenset({S.DELETING, S.LOST}),
        S.LOST: frozenset({S.READY, S.CREATING, S.GONE}),
        S.GONE: frozenset(),
    },
    passing={
        S.PLANNED: "60 s, then gone",
        S.CREATING: "120 s, then failed",
        S.CLEANING: "120 s, then failed",
        S.DELETING: "120 s, then failed",
        S.FAILED: "30 s, then deleted again",
        S.LOST: "until the node answers or is confirmed dead",
    },
)

DEADLINES_S = {S.PLANNED: 60, S.CREATING: 120, S.CLEANING: 120, S.DELETING: 120, S.FAILED: 30}
"""Seconds a slice may spend in a transitional state."""
