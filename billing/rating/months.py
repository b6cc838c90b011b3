"""Pure: the life of a month's bill."""

from collections.abc import Mapping
from enum import StrEnum


class MonthState(StrEnum):
    """Where a month stands. It is closed by a person; nothing changes it afterwards."""

    PROVISIONAL = "provisional"
    REVIEWED = "reviewed"
    CLOSED = "closed"


M = MonthState

MOVES: Mapping[MonthState, frozenset[MonthState]] = {
    M.PROVISIONAL: frozenset({M.REVIEWED}),
    M.REVIEWED: frozenset({M.PROVISIONAL, M.CLOSED}),
    M.CLOSED: frozenset(),
}


class DisputeState(StrEnum):
    """Where a complaint about a line stands."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REFUSED = "refused"
