"""Beside the tree: what was changed and is planned, what drifted, what stands unused."""

from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet

from pool.clock import now
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.roles import Role
from pool.models.events import Event
from pool.models.leases import Lease
from pool.models.placements import Placement
from pool.models.quotas import Quota
from pool.models.quotatree.cutbacks import Cutback
from pool.models.quotatree.drifts import QuotaDrift
from pool.models.quotatree.plans import PlannedQuota
from pool.selectors.leases import lease_list
from pool.selectors.memberships import Standing

UNUSED_AFTER = timedelta(hours=24)
"""A lease that nothing ran under for so long is listed."""

_KINDS = [EventKind.QUOTA_CHANGED, EventKind.QUOTA_REPAIRED, EventKind.QUOTA_DRIFTED]


def quota_history(*, rows: Iterable[Quota], most: int = 50) -> list[Event]:
    """The newest changes and repairs of these rows, newest first; one query."""
    subjects = [f"quota:{row.uid}" for row in rows]
    found = Event.objects.filter(subject__in=subjects, kind__in=_KINDS)
    return list(found.order_by("-id")[:most])


def planned_list(*, standing: Standing) -> QuerySet[PlannedQuota]:
    """Planned changes of the tenants whose quotas the person may see, newest first."""
    rows = PlannedQuota.objects.select_related(
        "organization", "project__organization", "user", "partition"
    )
    if not standing.platform:
        rows = rows.filter(standing.spends() | _own_organizations(standing))
    return rows.order_by("-pk")


def _own_organizations(standing: Standing) -> Q:
    return Q(organization__in=standing.in_organizations(*Role))


def drift_list() -> QuerySet[QuotaDrift]:
    """Drifts, open ones too, newest first; for those who may repair."""
    rows = QuotaDrift.objects.select_related(
        "quota__organization", "quota__project__organization", "quota__user", "quota__partition"
    )
    return rows.order_by("-pk")


def drifts_open() -> int:
    """How many rows stand wrong now."""
    return QuotaDrift.objects.filter(repaired_at=None, passed_at=None).count()


def cutback_list(*, standing: Standing) -> QuerySet[Cutback]:
    """Notices of leases of the projects a person may read, newest first."""
    rows = Cutback.objects.filter(standing.sees("lease__project"))
    return rows.select_related(
        "lease__project__organization",
        "lease__template_version__template",
        "lease__request__requester",
    ).order_by("-pk")


def unused_leases(*, standing: Standing) -> QuerySet[Lease]:
    """Leases in force that nothing ran under for a day, of the projects a person may read."""
    since = now() - UNUSED_AFTER
    ran = Placement.objects.filter(attempt__workload__lease=OuterRef("pk")).filter(
        Q(state=PlacementState.OPEN) | Q(closed_at__gt=since)
    )
    rows = lease_list(standing=standing).filter(
        state=LeaseState.ACTIVE, valid__startswith__lte=since
    )
    return rows.filter(~Exists(ran))
