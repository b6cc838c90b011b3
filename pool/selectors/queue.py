"""The queue as it was last explained: whose work stands where, and why; nothing is planned here."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Min, Q, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan

from pool.lifecycle.workloads import WorkloadState
from pool.models.workloads import OUT_OF_TURN, Workload
from pool.selectors.memberships import Standing
from pool.selectors.workloads import workload_list

NEW = "new"
"""What is asked for to see the work that no round has looked at yet."""

Cursor = tuple[int, int]
"""Place in the queue and key of the last row seen."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of the queue: work the reader may see, or a number of others' about which no more.

    Of `others` nothing is known here but how many stand together.
    """

    work: Workload | None = None
    others: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the queue; `after` leads to the next one, None at the end."""

    turns: tuple[Turn, ...]
    after: Cursor | None


def queue_narrow(
    *,
    standing: Standing,
    mine: bool = False,
    project: str = "",
    partition: str = "",
    reason: str = "",
) -> Q:
    """Which of the work that the person may read is asked for; all of it without a filter.

    `reason` is a word of the planner, or NEW for work that no round has looked at.
    """
    wanted = standing.sees()
    if mine:
        wanted &= Q(owner=standing.user)
    if project:
        wanted &= Q(project__slug=project)
    if partition:
        inside = Workload.objects.filter(partitions__slug=partition, state=WorkloadState.QUEUED)
        wanted &= Q(pk__in=inside.values("pk"))
    if reason:
        wanted &= Q(waits_for="" if reason == NEW else reason)
    return wanted


def queue_part(
    *,
    standing: Standing,
    wanted: Q,
    others: bool,
    after: Cursor,
    size: int,
    pieces: bool = True,
) -> Part:
    """The next `size` places in order; two queries. With `others`, unseen work is counted too.

    Without `pieces` those of arrays whose turn has not come are left out: they compete with nobody.
    Read along an index from the cursor on: what stands before and behind costs nothing.
    """
    rows = _queued() if pieces else _queued().filter(place__lt=OUT_OF_TURN)
    places = _places(rows if others else rows.filter(wanted), after, size + 1)
    shown = [pk for _place, pk in places[:size]]
    seen = workload_list(standing=standing).filter(wanted, pk__in=shown).in_bulk()
    last = places[size - 1] if len(places) > size else None
    return Part(tuple(_turns(shown, seen)), last)


def queue_reasons(*, wanted: Q) -> list[tuple[str, int]]:
    """How many of the wanted wait for each reason, most first; "" is not looked at yet."""
    rows = _queued().filter(wanted).order_by().values_list("waits_for")
    return sorted(rows.annotate(n=Count("pk")), key=lambda one: (-one[1], one[0]))


def queue_length() -> int:
    """How much work waits in the whole pool."""
    return _queued().count()


def queue_oldest() -> datetime | None:
    """When the work joined the queue that waits longest; None where nothing waits."""
    found: datetime | None = _queued().aggregate(oldest=Min("queued_at"))["oldest"]
    return found


def _queued() -> QuerySet[Workload]:
    return Workload.objects.filter(state=WorkloadState.QUEUED)


def _places(rows: QuerySet[Workload], after: Cursor, most: int) -> list[Cursor]:
    behind = TupleGreaterThan(Tuple(F("place"), F("pk")), after)
    told = rows.filter(behind).order_by("place", "pk")
    return list(told.values_list("place", "pk")[:most])


def _turns(keys: Iterable[int], seen: dict[int, Workload]) -> Iterable[Turn]:
    """Neighbours that the reader may not see become one block."""
    hidden = 0
    for key in keys:
        if key not in seen:
            hidden += 1
            continue
        if hidden:
            yield Turn(others=hidden)
            hidden = 0
        yield Turn(work=seen[key])
    if hidden:
        yield Turn(others=hidden)
