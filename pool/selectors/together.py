"""Several requests judged as one: the sum of them against each limit and entitlement."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pool.lifecycle.requests import RequestState
from pool.models.requests import Request
from pool.rules.needs import from_mapping
from pool.selectors.consequences import Change, changes_for


@dataclass(frozen=True, slots=True)
class Together:
    """What saying yes to all of them would change, one line for each quota row."""

    changes: tuple[Change, ...]

    @property
    def fits(self) -> bool:
        """No limit and no entitlement would be passed by the sum."""
        return not any(one.over for one in self.changes)


def requests_check_together(*, requests: Sequence[Request]) -> Together:
    """The sum of the requests against each row; some queries for each request, none is written.

    What a row holds for the requests already is taken out of *before*, once for each of them.
    """
    rows: dict[int, Change] = {}
    asked: dict[int, int] = {}
    counted: dict[int, int] = {}
    for one in requests:
        mine = _counted(one)
        for key, amount in mine.items():
            counted[key] = counted.get(key, 0) + amount
        for change in _changes(one, mine):
            held = change.before + mine.get(change.row, 0)
            rows.setdefault(change.row, replace(change, before=held))
            asked[change.row] = asked.get(change.row, 0) + change.after - change.before
    return Together(
        tuple(_sum(row, asked[key], counted.get(key, 0)) for key, row in sorted(rows.items()))
    )


def _sum(row: Change, asked: int, counted: int) -> Change:
    """The row with `counted` taken out of what it holds, and then all that is asked put in."""
    before = row.before - counted
    return replace(row, before=before, after=before + asked)


def _counted(one: Request) -> dict[int, int]:
    if one.state != RequestState.SUBMITTED:
        return {}
    return {taken["quota"]: int(taken["amount"]) for taken in one.entitled}


def _changes(one: Request, counted: dict[int, int]) -> tuple[Change, ...]:
    changes, _cards = changes_for(
        project=one.project,
        need=from_mapping(one.need),
        copies=one.copies,
        partitions=list(one.partitions.all()),
        version=one.template_version,
        counted=counted,
    )
    return changes
