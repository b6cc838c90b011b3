"""Who sees use without money: what the contract says, for rows and costs that have a price."""

from dataclasses import replace
from typing import Any

from django.db.models import BooleanField, Case, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce

from billing.models.contracts import Contract
from billing.selectors.usage import Cost
from pool.clock import now
from pool.models.tenants import Organization, Project
from pool.selectors.memberships import Standing
from portal.access.roles import Verb, allowed


def with_money(
    rows: QuerySet[Any], standing: Standing, home: str = "organization"
) -> QuerySet[Any]:
    """The rows of organizations, each with `moneyless`: its amounts are not the person's to read.

    `home` names the organization of a row. As on pages: the contract of today says so, and the
    person does not close its months.
    """
    if standing.platform:
        return rows
    closes = {
        home
        for role, homes in standing.organizations.items()
        if allowed(frozenset({role}), Verb.MONTH_CLOSE)
        for home in homes
    }
    agreed = Contract.objects.filter(
        Q(organization=OuterRef(home)) | Q(organization=None),
        since__lte=now().date(),
    ).order_by(F("organization").asc(nulls_last=True), "-since")
    said = Coalesce(Subquery(agreed.values("showback")[:1]), False, output_field=BooleanField())
    told: QuerySet[Any] = rows.annotate(
        moneyless=Case(When(**{f"{home}__in": closes}, then=False), default=said)
    )
    return told


def money_hidden(standing: Standing) -> frozenset[int]:
    """The organizations whose money this person does not read, though they may read the use."""
    if standing.platform:
        return frozenset()
    rows = with_money(Organization.objects.order_by(), standing, "pk").filter(moneyless=True)
    return frozenset(rows.values_list("pk", flat=True))


def cost_shown(cost: Cost, project: Project, hidden: frozenset[int]) -> Cost:
    """The cost as the person may read it: without amounts where their money is hidden."""
    if project.organization_id not in hidden:
        return cost
    return replace(cost, amount_micro=None, per_hour_micro=None, shown=False)


def moneyless(row: Any) -> bool:
    """Whether its amounts are hidden from who asked for it."""
    return bool(getattr(row, "moneyless", False))
