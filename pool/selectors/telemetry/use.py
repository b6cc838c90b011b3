"""How busy cards and work are at this moment, for live pages; what is unknown is left out."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from pool.clock import now
from pool.selectors.telemetry.latest import FRESH

_CARDS = """
SELECT DISTINCT ON (s.card_id) c.uid, coalesce(s.util_mean, s.sm_mean),
       100.0 * s.memory_mib_mean / nullif(c.memory_mib, 0)
FROM pool_sample s JOIN pool_card c ON c.id = s.card_id JOIN pool_node n ON n.id = c.node_id
WHERE s.slice_id IS NULL AND s.at > %(since)s AND c.state <> 'retired'
  AND (%(node)s::text IS NULL OR n.uid = %(node)s::text)
ORDER BY s.card_id, s.at DESC
"""

LOOK = timedelta(seconds=45)
"""The newest reading of each slice of a workload, if it is not older."""

_WORK = """
WITH newest AS (
    SELECT DISTINCT ON (s.slice_id) s.*
    FROM pool_sample s JOIN pool_attempt a ON a.id = s.attempt_id
    JOIN pool_workload w ON w.id = a.workload_id
    WHERE w.uid = %(uid)s AND s.slice_id IS NOT NULL AND s.at > %(since)s
      AND a.number = (SELECT max(number) FROM pool_attempt WHERE workload_id = w.id)
    ORDER BY s.slice_id, s.at DESC
)
SELECT max(at), avg(sm_mean), avg(util_mean), avg(occupancy_mean), sum(memory_mib_mean),
       avg(bandwidth_mean), sum(power_w_mean), max(temperature_c_max), sum(samples_s), sum(tokens_s)
FROM newest
"""


@dataclass(frozen=True, slots=True)
class Load:
    """What a workload does on its slices now. Per cent, MiB, W, °C, a second; None is unknown."""

    at: datetime
    sm: float | None
    util: float | None
    occupancy: float | None
    memory_mib: float | None
    bandwidth: float | None
    power_w: float | None
    temperature_c: float | None
    samples_s: float | None
    tokens_s: float | None


def cards_use(*, node: str | None = None) -> dict[str, tuple[int | None, int | None]]:
    """Per cent busy and per cent of memory of each card that was measured within a minute, by uid;
    of one node, or of all. One query.
    """
    words: dict[str, Any] = {"since": now() - FRESH, "node": node}
    with connection.cursor() as cursor:
        cursor.execute(_CARDS, words)
        return {uid: (_whole(busy), _whole(memory)) for uid, busy, memory in cursor.fetchall()}


def load_now(*, uid: str) -> Load | None:
    """The newest readings of the newest run, its slices together; None when there are none."""
    with connection.cursor() as cursor:
        cursor.execute(_WORK, {"uid": uid, "since": now() - LOOK})
        at, *values = cursor.fetchone()
    return None if at is None else Load(at, *values)


def _whole(value: Any) -> int | None:
    """Whole per cent, 0 to 100: what a bar can show."""
    return None if value is None else max(0, min(100, round(float(value))))
