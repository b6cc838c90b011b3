"""Leases of the projects a person may read."""

from datetime import datetime

from django.db.models import QuerySet

from pool.lifecycle.leases import LeaseState
from pool.models.leases import Lease
from pool.models.tenants import Project
from pool.rules.needs import Need, from_mapping, to_mapping
from pool.selectors.allowances import LIVE
from pool.selectors.memberships import Standing
from pool.selectors.offers import options_for


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


def lease_that_holds(
    *, project: Project, template: int, need: Need, micro: int, at: datetime
) -> Lease | None:
    """The project's lease of a template that still holds such work and ends last, if any."""
    rows = Lease.objects.filter(
        project=project,
        state=LeaseState.ACTIVE,
        template_version__template=template,
        valid__contains=at,
    )
    ordered = rows.select_related("template_version").order_by("-valid__endswith", "pk")
    return next((one for one in ordered if lease_takes(lease=one, need=need, micro=micro)), None)


def lease_takes(*, lease: Lease, need: Need, micro: int) -> bool:
    """Whether one more piece of work fits: no larger than a copy, and a copy is not in use.

    A copy's size is what its own need would take at the least where the lease is good for.
    """
    own = from_mapping(lease.need)
    if need.parts > own.parts or (need.parts == 0) != (own.parts == 0):
        return False
    in_use = lease.workloads.filter(state__in=LIVE).count()
    if in_use >= lease.copies:
        return False
    if own.parts == 0:
        return (need.cpu_milli or 0) <= (own.cpu_milli or 0)
    options = options_for(
        need=own,
        partitions=lease.partitions.all(),
        unlimited_modes=lease.template_version.unlimited_modes,
    )
    sizes = [one.micro(own) for one in options if one.holds(own)]
    return to_mapping(need) == to_mapping(own) or micro <= min(sizes, default=0)
