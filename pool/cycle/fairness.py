"""Who has had how much lately: worked out from the holds, read by the order between tenants."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import connection, transaction

from pool.clock import now
from pool.models.fairness import FairUse
from pool.models.tenants import Organization, Project
from pool.models.workloads import Workload
from pool.scheduling.model import Quota, TenantShare
from pool.scheduling.order import share_weights, weighed

HALF_LIFE_S = 7 * 86_400
"""What was held a week ago counts half."""

LIVES = 8
"""What ended more half-lives ago counts less than half a percent, and is not looked at."""

_PROJECTS = """
INSERT INTO pool_fairuse (project_id, card_seconds)
SELECT w.project_id, sum(
    h.equivalents_micro / 1e6 * %(half)s / ln(2) * (
        exp(-ln(2) / %(half)s * extract(
            epoch FROM %(now)s - least(coalesce(upper(h.held), %(now)s), %(now)s)))
        - exp(-ln(2) / %(half)s * extract(epoch FROM %(now)s - lower(h.held)))
    )
)
FROM pool_hold h
JOIN pool_placement l ON l.id = h.placement_id
JOIN pool_attempt a ON a.id = l.attempt_id
JOIN pool_workload w ON w.id = a.workload_id
WHERE h.slice_id IS NOT NULL AND lower(h.held) < %(now)s
  AND (l.closed_at IS NULL OR l.closed_at > %(now)s - make_interval(secs => %(oldest)s))
GROUP BY w.project_id
"""

_ORGANIZATIONS = """
INSERT INTO pool_fairuse (organization_id, card_seconds)
SELECT p.organization_id, sum(f.card_seconds)
FROM pool_fairuse f JOIN pool_project p ON p.id = f.project_id
GROUP BY p.organization_id
"""


def fairness_count() -> int:
    """Work out anew what each tenant has used. How many projects have used anything.

    A hold counts its card equivalents for every second of it, each second by its own age; one
    that is still open counts up to now. Readers see the old numbers until the new ones are whole.
    """
    given: Mapping[str, datetime | float] = {
        "now": now(),
        "half": float(HALF_LIFE_S),
        "oldest": float(LIVES * HALF_LIFE_S),
    }
    with transaction.atomic():
        FairUse.objects.all().delete()
        with connection.cursor() as cursor:
            cursor.execute(_PROJECTS, given)
            found = int(cursor.rowcount)
            cursor.execute(_ORGANIZATIONS)
    return found


def shares(queue: Iterable[Workload], rows: Iterable[Quota] = ()) -> tuple[TenantShare, ...]:
    """What the tenants of queued work have used, and the weight of each by its guarantees.

    No query: the work was read with the queue, `rows` with the limits.
    """
    found: dict[str, TenantShare] = {}
    for row in queue:
        project = row.project
        outer, inner = f"org:{project.organization_id}", f"project:{project.pk}"
        if inner not in found:
            found[outer] = TenantShare(tenant=outer, usage=_used(project.organization))
            found[inner] = TenantShare(tenant=inner, parent=outer, usage=_used(project))
    return weighed(found.values(), share_weights(rows))


def _used(tenant: Organization | Project) -> float:
    """Card-seconds; 0 for who has no row yet."""
    return tenant.fair_use.card_seconds if hasattr(tenant, "fair_use") else 0.0
