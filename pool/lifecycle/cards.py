"""The life of a card."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class CardState(StrEnum):
    """Where a card stands."""

    READY = "ready"
    PARTIAL = "partial"
    SILENT = "silent"
    CONTESTED = "contested"
    CORDONED = "cordoned"
    LOST = "lost"
    RETIRED = "retired"


class ForeignWork(StrEnum):
    """What an administrator lets a card do while people use it without the pool."""

    BLOCK = "block"
    ALERT = "alert"
    TOLERATE = "tolerate"


C = CardState
_MOVABLE = (C.READY, C.PARTIAL, C.SILENT, C.CONTESTED, C.CORDONED, C.LOST)

CARD = Lifecycle(
    name="card",
    first=C.READY,
    moves={
        **{now: frozenset(set(_MOVABLE) - {now} | {C.RETIRED}) for now in _MOVABLE},
        C.RETIRED: frozenset({C.READY}),
    },
    passing={C.SILENT: "until its node answers for it again or reports it lost"},
)
