"""Arrays: how many of their pieces stand where, and what they take of a lease or an allowance."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from django.db.models import Count, Max, QuerySet, Sum

from pool.lifecycle.workloads import OPEN, WorkloadState
from pool.models.leases import Lease
from pool.models.tenants import Project
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.arrays import Tally, at_once, tally

LIVE = sorted(OPEN)
"""States in which a workload counts against allowances, leases and its owner's number."""


def states_of(*, arrays: Iterable[int]) -> Mapping[int, Mapping[str, int]]:
    """How many pieces of each array are in which state; one query for all."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    rows = Workload.objects.filter(parent__in=list(arrays)).values("parent_id", "state")
    for row in rows.annotate(count=Count("pk")).order_by():
        found[row["parent_id"]][row["state"]] = row["count"]
    return found


def tallies(*, rows: Iterable[Workload]) -> dict[int, Tally]:
    """The counts of those of the rows that are arrays, by key; one query.

    The pieces of an array that awaits approval are not made yet: they wait.
    """
    arrays = {row.pk: row.array_size for row in rows if row.array_size}
    if not arrays:
        return {}
    states = states_of(arrays=arrays)
    return {pk: _tally(states.get(pk, {}), size) for pk, size in arrays.items()}


def _tally(states: Mapping[str, int], size: int) -> Tally:
    return tally(states, unmade=size if not states else 0)


def told(rows: Iterable[Workload]) -> list[Workload]:
    """The rows, the arrays among them with their counts as `tally`; one query."""
    found = list(rows)
    counts = tallies(rows=found)
    for row in found:
        row.tally = counts.get(row.pk)  # type: ignore[attr-defined]
    return found


def pieces_of(*, array: Workload) -> QuerySet[Workload]:
    """The pieces in the order of their indices."""
    return Workload.objects.filter(parent=array).order_by("array_index")


def live_of_member(*, project: Project, user: User) -> int:
    """How much of a member's work lives in a project, each piece of an array counted; two queries.

    The pieces of an array that awaits approval count before they are made.
    """
    mine = Workload.objects.filter(project=project, owner=user)
    unmade = mine.filter(state=WorkloadState.AWAITING_APPROVAL, array_size__isnull=False)
    made = mine.filter(state__in=LIVE, array_size=None).count()
    return made + int(unmade.aggregate(sum=Sum("array_size"))["sum"] or 0)


def in_use_of(*, lease: Lease) -> int:
    """How many copies of a lease living work takes; an array as many as may run at a time."""
    rows = lease.workloads.filter(state__in=LIVE, array_size=None)
    return sum(count for count, _, _ in _grouped(rows, "asked_micro"))


def taken_by(*, rows: QuerySet[Workload], column: str) -> int:
    """The sum of a column over living work; an array takes as much as may run at a time."""
    found = _grouped(rows.filter(array_size=None), column)
    return sum(all_of if all_of is not None else count * most for count, most, all_of in found)


def _grouped(rows: QuerySet[Workload], column: str) -> list[tuple[int, int, int | None]]:
    """Of each array, and of all else: how many count, the most of one, and the sum if all do."""
    groups = rows.order_by().values("parent_id", "parent__array_throttle")
    found = []
    for row in groups.annotate(count=Count("pk"), most=Max(column), sum=Sum(column)):
        throttle = row["parent__array_throttle"]
        count = at_once(row["count"], throttle)
        found.append((count, row["most"], row["sum"] if count == row["count"] else None))
    return found


def pieces_in(*, workload: Workload, state: WorkloadState) -> int:
    """How many workloads go on with this one: of an array its pieces in that state, else one."""
    if not workload.array_size:
        return 1
    return Workload.objects.filter(parent=workload, state=state).count()
