"""The usage rows of one hour as the ledger takes them: plain, since an hour may have thousands."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

_ROWS = """
SELECT u.id, u.kind, h.slice_id, u.card_id, u.attempt_id, u.organization_id, u.project_id,
    u.partition_id, u.starts_at, u.ends_at, u.currency, u.preemptible, u.billable,
    u.equivalents_micro, u.amount_micro, u.reserved_us, u.memory_mib, u.compute_milli,
    u.used_us, u.known_us,
    CASE WHEN u.mode = 'vgpu' THEN coalesce((
        SELECT sum((line->>'micro')::bigint) FROM jsonb_array_elements(u.charges) AS line
        WHERE line->>'unit' = 'seat'), 0)::bigint ELSE 0 END
FROM billing_usage u LEFT JOIN pool_hold h ON h.id = u.hold_id
WHERE u.hour = %s ORDER BY u.id
"""


@dataclass(slots=True)
class HourRow:
    """One usage row, with the slice behind its hold; `licence_micro` of its amount is for seats."""

    pk: int
    kind: str
    slice_id: int | None
    card_id: int | None
    attempt_id: int | None
    organization_id: int
    project_id: int
    partition_id: int | None
    starts_at: datetime
    ends_at: datetime
    currency: str
    preemptible: bool
    billable: bool
    equivalents_micro: int
    amount_micro: int | None
    reserved_us: int
    memory_mib: int
    compute_milli: int
    used_us: int
    known_us: int
    licence_micro: int


def rows_of(hour: datetime) -> list[HourRow]:
    """All rows of an hour by key; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, [hour])
        return [HourRow(*row) for row in cursor.fetchall()]
