"""Open placements with all that running work is read from, by the versions of those rows."""

from collections.abc import Iterable
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet, Value

from pool.cycle.carried.memory import Memory
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.yielding import CAPPED
from pool.models.placements import Placement
from pool.models.yielding import YieldOrder

CONTENT = ("command", "env", "files", "comment")
"""What the work itself is made of: as large as a mebibyte each, and nothing a round looks at."""

_VERSIONS = """
SELECT p.id, concat_ws(' ', p.xmin, p.ctid, a.xmin, a.ctid, w.xmin, w.ctid, j.xmin, j.ctid,
    v.xmin, v.ctid, c.xmin, c.ctid,
    (SELECT string_agg(concat_ws('/', h.xmin, h.ctid, k.label), ' ' ORDER BY h.id)
     FROM pool_hold h LEFT JOIN pool_card k ON k.id = h.card_id WHERE h.placement_id = p.id),
    (SELECT string_agg(concat_ws('/', y.xmin, y.ctid), ' ' ORDER BY y.id)
     FROM pool_yieldorder y WHERE y.attempt_id = a.id AND y.settled_at IS NULL))
FROM pool_placement p
JOIN pool_attempt a ON a.id = p.attempt_id
JOIN pool_workload w ON w.id = a.workload_id
JOIN pool_project j ON j.id = w.project_id
JOIN pool_templateversion v ON v.id = w.template_version_id
LEFT JOIN pool_accuracy c ON c.user_id = w.owner_id
WHERE p.state = 'open'
"""
"""The versions of all rows from which running work is read: any change of one gives another."""


def placement_rows(memory: Memory | None) -> Iterable[tuple[str, Any]]:
    """Open placements; of those whose rows are in the versions that memory has nothing is read."""
    if memory is None:
        return [("", row) for row in _open_placements()]
    read = memory.placements.renewed(
        _versions(),
        lambda ids: ((row.pk, row) for row in _open_placements().filter(pk__in=ids)),
    )
    return read.values()


def _versions() -> list[tuple[int, str]]:
    with connection.cursor() as cursor:
        cursor.execute(_VERSIONS)
        found: list[tuple[int, str]] = cursor.fetchall()
    return found


def _open_placements() -> QuerySet[Any]:
    """Open placements with the kinds and amounts of the cards they hold, and who is told to go."""
    held: dict[str, Any] = {"filter": Q(holds__card__isnull=False), "default": Value([])}
    told = YieldOrder.objects.filter(
        attempt=OuterRef("attempt"), settled_at=None, kind__in=sorted(CAPPED)
    )
    return (
        Placement.objects.filter(state=PlacementState.OPEN)
        .select_related("attempt__workload__project", "attempt__workload__template_version")
        .select_related("attempt__workload__owner__accuracy")
        .defer(*(f"attempt__workload__{name}" for name in CONTENT))
        .annotate(
            labels=ArrayAgg("holds__card__label", order_by="holds__pk", **held),
            micros=ArrayAgg("holds__equivalents_micro", order_by="holds__pk", **held),
            interrupted=Exists(told),
        )
    )
