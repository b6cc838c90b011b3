"""Leases of the projects a person may read."""

from datetime import datetime

from django.db.models import F, Q, QuerySet

from pool.lifecycle.leases import LeaseState
from pool.models.leases import Lease
from pool.models.tenants import Project
from pool.rules.needs import Need, from_mapping, to_mapping
from pool.selectors.memberships import Standing
from pool.selectors.offers import host_of, options_for
from pool.selectors.series.arrays import in_use_of
from pool.selectors.users import people_like

Host = tuple[int, int, int]
"""CPU in thousandths of a core, RAM and disk in MiB, for all parts together."""


def lease_list(*, standing: Standing) -> QuerySet[Lease]:
    """All leases, newest first, each with when it `ends`."""
    return (
        Lease.objects.filter(standing.sees())
        .select_related("project__organization", "template_version__template", "request__requester")
        .annotate(ends=F("valid__endswith"))
        .order_by("-pk")
    )


def lease_search(rows: QuerySet[Lease], text: str) -> QuerySet[Lease]:
    """Those with the text in the title of their request or its requester's name, or that uid."""
    people = people_like(text, rows, "request__requester")
    asked = Q(request__title__icontains=text) | Q(request__requester__in=people)
    return rows.filter(asked | Q(uid=text))


def active_leases(*, standing: Standing) -> QuerySet[Lease]:
    """Leases that still let work start."""
    return lease_list(standing=standing).filter(state=LeaseState.ACTIVE)


def lease_that_holds(
    *,
    project: Project,
    template: int,
    need: Need,
    micro: int,
    host: Host,
    at: datetime,
    instead_of: int = 0,
) -> Lease | None:
    """The project's lease of a template that still holds such work and ends last, if any.

    `instead_of` is the key of a lease that is to be left.
    """
    rows = Lease.objects.filter(
        project=project,
        state=LeaseState.ACTIVE,
        template_version__template=template,
        valid__contains=at,
    ).exclude(pk=instead_of)
    ordered = rows.select_related("template_version", "project").order_by("-valid__endswith", "pk")
    fits = (one for one in ordered if lease_takes(lease=one, need=need, micro=micro, host=host))
    return next(fits, None)


def lease_takes(*, lease: Lease, need: Need, micro: int, host: Host) -> bool:
    """Whether one more piece of work fits: no larger than a copy, and a copy is not in use.

    A copy's size is what its own need would take at the least where the lease is good for; the
    kind of card and the host's CPU, RAM and disk are as much a part of it as the share of a card.
    """
    own = from_mapping(lease.need)
    if need.parts > own.parts or (need.parts == 0) != (own.parts == 0):
        return False
    if in_use_of(lease=lease) >= lease.copies or not _same_kind(own, need):
        return False
    options = [
        one
        for one in options_for(
            need=own,
            partitions=lease.partitions.all() if own.parts else (),
            trust=lease.project.trust_group_id,
            version=lease.template_version,
            unlimited_modes=lease.template_version.unlimited_modes,
        )
        if one.holds(own)
    ]
    if to_mapping(need) == to_mapping(own):
        return True
    granted = host_of(need=own, options=options, pick=max)
    if any(asked > most for asked, most in zip(host, granted, strict=True)):
        return False
    sizes = [one.micro(own) for one in options]
    return own.parts == 0 or micro <= min(sizes, default=0)


def _same_kind(own: Need, need: Need) -> bool:
    """Whether the work stays with the kinds of card that the lease names, and takes no more room.

    Where the lease names none, any that meets its need was granted.
    """
    for name in ("labels", "vendors", "architectures", "modes"):
        granted, asked = set(getattr(own, name)), set(getattr(need, name))
        if granted and not (asked and asked <= granted):
            return False
    return need.topology in (own.topology, "node") and need.nodes in (own.nodes, 0)
