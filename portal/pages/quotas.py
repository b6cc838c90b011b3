"""Limits: what may be held at once, what needs no request, what leases promise; side by side."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.http import HttpResponse
from django.shortcuts import render

from pool.lifecycle.roles import QuotaKind
from pool.models.partitions import Partition
from pool.models.quotas import Quota
from pool.selectors.quotas import quota_list
from portal.pages.htmx import HtmxRequest, page
from portal.pages.yielding.critical import critical_links


@dataclass(slots=True)
class Line:
    """The three numbers of one unit in one partition; None where no such row is set."""

    partition: Partition
    card_model: str
    unit: str
    limit: Quota | None = None
    allowance: Quota | None = None
    entitlement: Quota | None = None

    def take(self, row: Quota) -> None:
        """Put a row in its place."""
        match row.kind:
            case QuotaKind.LIMIT:
                self.limit = row
            case QuotaKind.ALLOWANCE:
                self.allowance = row
            case _:
                self.entitlement = row

    @property
    def kinds(self) -> list[Quota | None]:
        """In the order of the columns."""
        return [self.limit, self.allowance, self.entitlement]

    @property
    def held(self) -> int:
        """What is held now, as far as any row tells."""
        return max((row.held for row in (self.limit, self.allowance) if row), default=0)


@dataclass(slots=True)
class Tenant:
    """One organization, project, or person in a project."""

    name: str
    above: str
    lines: dict[tuple[int, str, str], Line] = field(default_factory=dict)


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """One card a tenant, organizations first."""
    tenants = by_tenant(quota_list(standing=request.standing))
    context = {"tenants": tenants, "organizations": critical_links(request)}
    return render(request, "pages/quotas/index.html", context)


def by_tenant(rows: Iterable[Quota]) -> list[Tenant]:
    """Rows gathered by whom they bind and what they count, in the order of the list."""
    found: dict[tuple[int | None, int | None, int | None], Tenant] = {}
    for row in rows:
        tenant = found.setdefault((row.organization_id, row.project_id, row.user_id), _tenant(row))
        key = (row.partition_id, row.card_model, row.unit)
        line = tenant.lines.setdefault(key, Line(row.partition, row.card_model, row.unit))
        line.take(row)
    return list(found.values())


def _tenant(row: Quota) -> Tenant:
    if row.project is None:
        return Tenant(str(row.organization), "")
    if row.user is None:
        return Tenant(str(row.project), str(row.project.organization))
    return Tenant(str(row.user), str(row.project))
