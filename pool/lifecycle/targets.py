"""The lives of what is planned for a quota row, and of a lease's notice that it is cut back."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class PlannedQuotaKind(StrEnum):
    """A value is set for good on its day; a grant adds to the row for a time."""

    SET = "set"
    GRANT = "grant"


class PlannedQuotaState(StrEnum):
    """Where a planned change stands."""

    AHEAD = "ahead"
    IN_FORCE = "in_force"
    DONE = "done"
    CANCELLED = "cancelled"


P = PlannedQuotaState

PLANNED_QUOTA = Lifecycle(
    name="planned quota",
    first=P.AHEAD,
    moves={
        P.AHEAD: frozenset({P.IN_FORCE, P.DONE, P.CANCELLED}),
        P.IN_FORCE: frozenset({P.DONE, P.CANCELLED}),
        P.DONE: frozenset(),
        P.CANCELLED: frozenset(),
    },
)


class CutbackState(StrEnum):
    """Where a notice stands: open, carried out, or withdrawn because the lease was used again."""

    NOTICED = "noticed"
    CUT = "cut"
    WITHDRAWN = "withdrawn"


C = CutbackState

CUTBACK = Lifecycle(
    name="cutback",
    first=C.NOTICED,
    moves={
        C.NOTICED: frozenset({C.CUT, C.WITHDRAWN}),
        C.CUT: frozenset(),
        C.WITHDRAWN: frozenset(),
    },
    passing={C.NOTICED: "the notice period, then cut back or withdrawn"},
)
