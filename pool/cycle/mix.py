"""What has been asked for lately: the mix of needs that a start must not leave without room."""

import json

from pool.clock import now
from pool.cycle.demand import claim
from pool.cycle.supply import rows_of
from pool.models.templates import TemplateVersion
from pool.models.workloads import Workload
from pool.rules.problems import Problems
from pool.scheduling.model import Demand

DAYS = 7
"""Work submitted so lately stands for the work to come."""

NEWEST = 2000
"""At most so many of the newest, and as many of the queue, are counted: a round stays quick."""

KINDS = 50
"""So many kinds of need at most, the most frequent ones; the tail would only cost time."""

_MIX = """
WITH seen AS (
    SELECT id FROM (
        SELECT id, submitted_at FROM pool_workload ORDER BY id DESC LIMIT %(newest)s
    ) newest
    WHERE submitted_at > %(now)s - make_interval(days => %(days)s)
    UNION
    (SELECT id FROM pool_workload WHERE state = 'queued' ORDER BY id LIMIT %(newest)s)
)
SELECT w.need::text, v.unlimited_modes, v.bandwidth, coalesce(l.heavy, false),
       w.runner, w.cpu_milli, w.ram_mib, w.disk_mib, count(*)
FROM seen
JOIN pool_workload w ON w.id = seen.id
JOIN pool_templateversion v ON v.id = w.template_version_id
LEFT JOIN LATERAL (
    SELECT heavy FROM pool_learnedbandwidth k
    WHERE v.bandwidth = 'measured' AND k.version_id = v.id
      AND (k.owner_id = w.owner_id OR k.owner_id IS NULL)
    ORDER BY k.owner_id NULLS LAST LIMIT 1) l ON true
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
ORDER BY 9 DESC, 1, 2, 3, 4, 5, 6, 7, 8
LIMIT %(kinds)s
"""


def recent() -> tuple[Demand, ...]:
    """Each kind of need of the last days and of the queue, with how often; one query.

    A need that cannot be read is left out: it can claim no room either.
    """
    given = {"now": now(), "days": DAYS, "newest": NEWEST, "kinds": KINDS}
    found: list[Demand] = []
    for need, unlimited, declared, heavy, runner, cpu, ram, disk, count in rows_of(_MIX, given):
        row = Workload(
            template_version=TemplateVersion(unlimited_modes=unlimited, bandwidth=declared),
            need=json.loads(need),
            runner=runner,
            cpu_milli=cpu,
            ram_mib=ram,
            disk_mib=disk,
        )
        try:
            found.append(Demand(need=claim(row, learned_heavy=heavy), weight=float(count)))
        except Problems:
            continue
    return tuple(found)
