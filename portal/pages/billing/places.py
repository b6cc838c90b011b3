"""Whose money a visitor may look at: organizations, and which of their projects."""

from collections.abc import Collection
from dataclasses import dataclass

from django.http import Http404

from billing.selectors.agreed import Agreed
from billing.selectors.statements import month_now
from pool.lifecycle.roles import Role
from pool.models import Organization, Project
from pool.selectors.memberships import Standing
from portal.access.guards import may
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest

READS = (Role.ORG_ADMIN, Role.BILLING_READER)


@dataclass(frozen=True, slots=True)
class Place:
    """An organization as its visitor sees it; `projects` None means all of them.

    `money` is false where the contract shows use without money to those who do not manage it.
    """

    organization: Organization
    projects: Collection[int] | None
    whole: bool
    closes: bool
    money: bool


def homes(request: HtmxRequest) -> list[Organization]:
    """Organizations of which the visitor may read some cost, by name."""
    return homes_of(request.standing)


def homes_of(standing: Standing) -> list[Organization]:
    """Organizations of which somebody may read some cost, by name."""
    rows = Organization.objects.order_by("name")
    if standing.platform:
        return list(rows)
    seen = Project.objects.filter(standing.spends("")).values("organization")
    return list(rows.filter(pk__in=seen) | rows.filter(pk__in=standing.in_organizations(*READS)))


def place_at(request: HtmxRequest) -> Place:
    """The organization asked for by `?organization=`, else the first.

    Raises:
        Http404: it is not among those one may read.
    """
    found = homes(request)
    asked = request.GET.get("organization") or request.POST.get("organization") or ""
    named = [one for one in found if not asked or one.uid == asked]
    if not named:
        raise Http404
    return place_of(request, named[0])


def place_of(request: HtmxRequest, home: Organization) -> Place:
    """The same of a known organization."""
    return place_in(request.standing, home)


def place_in(standing: Standing, home: Organization) -> Place:
    """What somebody of this standing may read of an organization's cost."""
    whole = standing.platform or home.pk in standing.in_organizations(*READS)
    projects = None
    if not whole:
        rows = Project.objects.filter(standing.spends(""), organization=home)
        projects = list(rows.values_list("pk", flat=True))
    contract = Agreed.now().contract(home.pk, month_now(home))
    return Place(
        organization=home,
        projects=projects,
        whole=whole,
        closes=may(standing, Verb.MONTH_CLOSE, home),
        money=not contract.showback or may(standing, Verb.MONTH_CLOSE, home),
    )
