"""Limits: what may be held, what needs no request, what is promised."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.http import HttpResponse
from django.shortcuts import render

from pool.models.quotas import Quota
from pool.selectors.quotas import quota_list
from portal.pages.htmx import HtmxRequest, page


@dataclass(slots=True)
class Tenant:
    """The rows of one organization, project or person in a project."""

    name: str
    above: str
    rows: list[Quota] = field(default_factory=list)


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """One card a tenant, organizations first."""
    tenants = by_tenant(quota_list(standing=request.standing))
    return render(request, "pages/quotas/index.html", {"tenants": tenants})


def by_tenant(rows: Iterable[Quota]) -> list[Tenant]:
    """Rows gathered by whom they bind, in the order of the list."""
    found: dict[tuple[int | None, int | None, int | None], Tenant] = {}
    for row in rows:
        key = (row.organization_id, row.project_id, row.user_id)
        if key not in found:
            found[key] = _tenant(row)
        found[key].rows.append(row)
    return list(found.values())


def _tenant(row: Quota) -> Tenant:
    if row.project is None:
        return Tenant(str(row.organization), "")
    if row.user is None:
        return Tenant(str(row.project), str(row.project.organization))
    return Tenant(str(row.user), str(row.project))
