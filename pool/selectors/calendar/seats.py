"""Licence seats with how many are held now."""

from django.db.models import IntegerField, Q, QuerySet
from django.db.models.expressions import RawSQL

from pool.lifecycle.roles import Role
from pool.models.seats import Seats
from pool.selectors.memberships import Standing

_USED = """
(SELECT count(*) FROM pool_hold h
 JOIN pool_placement l ON l.id = h.placement_id
 JOIN pool_attempt a ON a.id = l.attempt_id
 JOIN pool_workload w ON w.id = a.workload_id
 JOIN pool_project j ON j.id = w.project_id
 WHERE h.mode = pool_seats.mode AND h.slice_id IS NOT NULL AND upper_inf(h.held)
   AND (pool_seats.organization_id IS NULL OR pool_seats.organization_id = j.organization_id)
   AND (pool_seats.partition_id IS NULL OR pool_seats.partition_id = l.partition_id))
"""


def seats_list(*, standing: Standing) -> QuerySet[Seats]:
    """Seats that bind the person: those of everybody and of their organizations; `used` is now."""
    rows = Seats.objects.select_related("organization", "partition")
    if not standing.platform:
        mine = Q(organization__in=standing.in_organizations(*Role))
        mine |= Q(organization__projects__in=standing.in_projects(*Role))
        rows = rows.filter(pk__in=Seats.objects.filter(Q(organization=None) | mine).values("pk"))
    return rows.annotate(used=RawSQL(_USED, [], output_field=IntegerField()))  # noqa: S611
