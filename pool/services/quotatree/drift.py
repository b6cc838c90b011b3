"""Rows whose count is not what was really taken: seen, seen again, repaired, and told of."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog
from django.db import connection, transaction
from django.db.models import F

from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.quotas import Quota
from pool.models.quotatree.drifts import QuotaDrift
from pool.rules.quotas import ceiling_of
from pool.services.moves import locked
from pool.sweeps import each
from pool.wake import round_wanted

log = structlog.get_logger(__name__)

PERIOD = timedelta(seconds=60)
"""Two looks that agree, so far apart, make a drift worth repairing."""

TOGETHER = 200
"""So many rows are set right in one transaction, for one count of all that is taken."""

_COUNTED = """
SELECT (one->>'quota')::bigint, sum((one->>'amount')::bigint)::bigint FROM (
    SELECT jsonb_array_elements(quota_taken) AS one FROM pool_placement WHERE state = 'open'
    UNION ALL
    SELECT jsonb_array_elements(quota_taken) FROM pool_reservation WHERE quota_taken <> '[]'
    UNION ALL
    SELECT jsonb_array_elements(entitled) FROM pool_request WHERE state = 'submitted'
    UNION ALL
    SELECT jsonb_array_elements(entitled) FROM pool_lease WHERE state = 'active'
) AS taken GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one look did: rows that stand wrong, repaired ones, and those right again by now."""

    seen: int = 0
    repaired: int = 0
    passed: int = 0


def drifts_swept(*, actor: Actor) -> Swept:
    """One look at all rows; what was found alike a period ago is repaired. Safe to repeat."""
    wrong = _wrong()
    open_rows = {row.quota_id: row for row in QuotaDrift.objects.filter(**_OPEN)}
    passed = [row.pk for key, row in open_rows.items() if key not in wrong]
    QuotaDrift.objects.filter(pk__in=passed).update(passed_at=now())
    due: list[QuotaDrift] = []

    def look(key: int) -> bool:
        held, counted = wrong[key]
        row = open_rows.get(key)
        if row is None:
            _seen(key, held, counted, actor)
        elif (row.held, row.counted) != (held, counted):
            QuotaDrift.objects.filter(pk=row.pk).update(held=held, counted=counted, seen_at=now())
        elif now() - row.seen_at >= PERIOD:
            due.append(row)
        return False

    each(sorted(wrong), look, of="quota.drift")
    parts = [due[at : at + TOGETHER] for at in range(0, len(due), TOGETHER)]
    repaired = sum(_repaired(some, actor) for some in parts)
    return Swept(len(wrong), repaired, len(passed))


def _repaired(some: Sequence[QuotaDrift], actor: Actor) -> int:
    """Together; one by one where that fails, so that one odd row keeps no other wrong."""
    try:
        return drifts_repair(drifts=some, actor=actor)
    except Exception:
        log.exception("sweep.together", of="quota.repair", count=len(some))
    return each(some, lambda one: drift_repair(drift=one, actor=actor), of="quota.repair")


def drift_repair(*, drift: QuotaDrift, actor: Actor) -> bool:
    """Set the row to what was taken of it, if it still stands as it was found; whether it did."""
    return bool(drifts_repair(drifts=[drift], actor=actor))


@transaction.atomic
def drifts_repair(*, drifts: Sequence[QuotaDrift], actor: Actor) -> int:
    """Set many rows right, counted anew once for all under their locks; how many were.

    A row that does not stand as it was found is left for the next look.
    """
    order = (F("organization_id").asc(nulls_last=True), F("user_id").asc(nulls_first=True), "pk")
    wanted = Quota.objects.filter(pk__in=[one.quota_id for one in drifts])
    rows = {row.pk: row for row in wanted.order_by(*order).select_for_update(of=("self",))}
    open_now = locked(QuotaDrift.objects.filter(pk__in=[one.pk for one in drifts], **_OPEN))
    known = {one.pk: one for one in drifts}
    counted = _counted() if rows else Counter[int]()
    return sum(
        _set_right(rows[one.quota_id], known[one.pk], counted[one.quota_id], actor)
        for one in open_now
        if one.quota_id in rows
    )


def _set_right(row: Quota, drift: QuotaDrift, counted: int, actor: Actor) -> bool:
    if (row.held, counted) != (drift.held, drift.counted):
        return False
    row.held = counted
    row.ceiling = ceiling_of(row.limit_value, counted)
    row.save(update_fields=["held", "ceiling", "changed_at"])
    QuotaDrift.objects.filter(pk=drift.pk).update(repaired_at=now(), repaired_by=actor.label[:160])
    record(
        EventKind.QUOTA_REPAIRED,
        row,
        actor=actor,
        project=row.project,
        of=row.kind,
        unit=row.unit,
        held=drift.held,
        counted=counted,
    )
    round_wanted()
    return True


_OPEN = {"repaired_at": None, "passed_at": None}


@transaction.atomic
def _seen(key: int, held: int, counted: int, actor: Actor) -> None:
    row = Quota.objects.get(pk=key)
    _, new = QuotaDrift.objects.get_or_create(
        quota=row, **_OPEN, defaults={"held": held, "counted": counted, "seen_at": now()}
    )
    if new:
        record(
            EventKind.QUOTA_DRIFTED,
            row,
            actor=actor,
            project=row.project,
            of=row.kind,
            unit=row.unit,
            held=held,
            counted=counted,
        )


def _wrong() -> dict[int, tuple[int, int]]:
    """Rows whose count is off, with what they say and what was taken, read at one instant."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        counted = _counted()
        rows = Quota.objects.values_list("pk", "held")
        return {pk: (held, counted[pk]) for pk, held in rows if held != counted[pk]}


def _counted() -> Counter[int]:
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED)
        return Counter(dict(cursor.fetchall()))
