"""Leases of the projects a person may read."""

from django.db.models import QuerySet

from pool.lifecycle.leases import LeaseState
from pool.models.leases import Lease
from pool.selectors.memberships import Standing


def lease_list(*, standing: Standing) -> QuerySet[Lease]:
    """All leases, newest first."""
    return (
        Lease.objects.filter(standing.sees())
        .select_related("project__organization", "template_version__template", "request__requester")
        .order_by("-pk")
    )


def active_leases(*, standing: Standing) -> QuerySet[Lease]:
    """Leases that still let work start."""
    return lease_list(standing=standing).filter(state=LeaseState.ACTIVE)
