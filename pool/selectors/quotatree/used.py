"""What members hold now and held on average over the last seven days, from the holds themselves."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import connection

from pool.clock import now
from pool.lifecycle.roles import QuotaUnit
from pool.models.partitions import Partition

SPAN = timedelta(days=7)

COLUMNS: dict[str, str] = {
    QuotaUnit.CARDS_MICRO: "h.equivalents_micro",
    QuotaUnit.MEMORY_MIB: "h.memory_mib",
    QuotaUnit.COMPUTE_MILLI: "h.compute_milli",
    QuotaUnit.CPU_MILLI: "h.cpu_milli",
    QuotaUnit.RAM_MIB: "h.ram_mib",
    QuotaUnit.DISK_MIB: "h.disk_mib",
    QuotaUnit.WORKLOADS: "CASE WHEN h.slice_id IS NULL THEN 1 ELSE 0 END",
    QuotaUnit.CARD_SECONDS: "h.equivalents_micro",
}
"""What each unit sums up over holds; every placement has one hold without a slice a node."""

_USED = """
SELECT j.organization_id, w.project_id, w.owner_id,
  coalesce(sum({column}) FILTER (WHERE upper_inf(h.held)), 0)::bigint,
  (coalesce(sum({column} * extract(epoch FROM
     least(coalesce(upper(h.held), %(at)s), %(at)s) - greatest(lower(h.held), %(since)s))), 0)
   / extract(epoch FROM %(at)s::timestamptz - %(since)s::timestamptz))::bigint
FROM pool_placement p
JOIN pool_hold h ON h.placement_id = p.id
JOIN pool_attempt a ON a.id = p.attempt_id
JOIN pool_workload w ON w.id = a.workload_id
JOIN pool_project j ON j.id = w.project_id
LEFT JOIN pool_card c ON c.id = h.card_id
WHERE p.partition_id = %(partition)s AND (p.closed_at IS NULL OR p.closed_at > %(since)s)
  AND (%(label)s = '' OR c.label = %(label)s) AND h.held && tstzrange(%(since)s, %(at)s)
GROUP BY 1, 2, 3
"""


@dataclass(frozen=True, slots=True)
class Use:
    """In the unit: held now, and on average over the last seven days."""

    held: int = 0
    week: int = 0

    def plus(self, other: "Use") -> "Use":
        """Both together."""
        return Use(self.held + other.held, self.week + other.week)


def use_by_member(
    *, partition: Partition, unit: str, card_model: str = ""
) -> dict[tuple[int, int, int], Use]:
    """By (organization, project, owner); one query. Nothing for units that no hold counts."""
    column = COLUMNS.get(unit)
    if column is None:
        return {}
    at = now()
    words: dict[str, object] = {
        "at": at,
        "since": at - SPAN,
        "partition": partition.pk,
        "label": card_model,
    }
    with connection.cursor() as cursor:
        cursor.execute(_USED.format(column=column), words)  # type: ignore[arg-type]
        return {(home, project, owner): Use(h, w) for home, project, owner, h, w in cursor}
