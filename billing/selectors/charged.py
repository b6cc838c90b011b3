"""Which usage rows somebody is charged for: budgets and months of cost count these alone."""

from django.db.models import (
    DateField,
    DateTimeField,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Cast, Coalesce

from billing.models.contracts import Contract
from billing.models.usage import KEPT_IDLE, Usage
from billing.selectors.agreed import DEFAULT


def charged(rows: QuerySet[Usage]) -> QuerySet[Usage]:
    """Those of the rows that are asked for and that the contract of their day leaves with the team.

    What is kept for a reserved lease and stays idle is nobody's charge where the platform pays
    guarantees.
    """
    return _with_payer(rows).filter(billable=True).exclude(_OF_THE_PLATFORM)


def unless_guaranteed(rows: QuerySet[Usage]) -> QuerySet[Usage]:
    """The same with what is not asked for, such as runs lost to a fault of the platform."""
    return _with_payer(rows).exclude(_OF_THE_PLATFORM)


_OF_THE_PLATFORM = Q(kind=KEPT_IDLE, payer="platform")


def _with_payer(rows: QuerySet[Usage]) -> QuerySet[Usage]:
    """Beside each row, who pays guarantees: the organization's words, else everybody's."""
    local = Func(
        F("organization__zone"),
        F("starts_at"),
        function="timezone",
        output_field=DateTimeField(),
    )
    words = Contract.objects.filter(
        Q(organization=OuterRef("organization")) | Q(organization=None), since__lte=OuterRef("day")
    ).order_by(F("organization").desc(nulls_last=True), "-since")
    payer = Subquery(words.values("guarantee_by")[:1])
    return rows.alias(day=Cast(local, DateField())).alias(
        payer=Coalesce(payer, Value(DEFAULT.guarantee_by))
    )
