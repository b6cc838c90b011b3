"""Who sees use without money: what the contract says, for lists of rows that have a price."""

from typing import Any

from django.db.models import BooleanField, Case, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce

from billing.models.contracts import Contract
from pool.clock import now
from pool.selectors.memberships import Standing
from portal.access.roles import Verb, allowed


def with_money(rows: QuerySet[Any], standing: Standing) -> QuerySet[Any]:
    """The rows of organizations, each with `moneyless`: its amounts are not the person's to read.

    As on pages: the contract of today says so, and the person does not close its months.
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
        Q(organization=OuterRef("organization")) | Q(organization=None),
        since__lte=now().date(),
    ).order_by(F("organization").asc(nulls_last=True), "-since")
    said = Coalesce(Subquery(agreed.values("showback")[:1]), False, output_field=BooleanField())
    told: QuerySet[Any] = rows.annotate(
        moneyless=Case(When(organization__in=closes, then=False), default=said)
    )
    return told


def moneyless(row: Any) -> bool:
    """Whether its amounts are hidden from who asked for it."""
    return bool(getattr(row, "moneyless", False))
