"""What was agreed: how is charged, who pays what nobody used, discounts, costs beside the cards."""

from django.contrib.postgres.fields import DateTimeRangeField
from django.db import models
from django.db.models import Q

from billing.rating.terms import Basis, Cut
from pool.models.ids import UidField
from pool.models.partitions import Partition
from pool.models.tenants import Organization, Project

PAYERS = ("holders", "platform", "shared")
OVERHEADS = ("licences", "adaptation", "operations", "people", "other")


class Contract(models.Model):
    """The words of the charge from the month `since` on; without an organization, everybody's.

    `floor_milli` belongs to the basis `max`. What was stranded is paid by those who strand it or by
    the platform, and so is what is kept for a reserved lease and stays idle. `showback` shows use
    without money to all but those who manage it. Thousandths.
    """

    uid = UidField(prefix="ct")
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="contracts", null=True, blank=True
    )
    since = models.DateField()
    basis = models.CharField(max_length=10, default=Basis.RESERVED.value)
    floor_milli = models.PositiveIntegerField(default=0)
    tax_milli = models.PositiveIntegerField(default=0)
    minimum_micro = models.BigIntegerField(default=0)
    stranded_by = models.CharField(max_length=10, default="holders")
    guarantee_by = models.CharField(max_length=10, default="holders")
    idle_by = models.CharField(max_length=10, default="platform")
    down_by = models.CharField(max_length=10, default="platform")
    showback = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-since", "-pk"]
        constraints = [
            models.UniqueConstraint(
                name="contract_one_a_month", fields=["organization", "since"], nulls_distinct=False
            ),
            models.CheckConstraint(
                name="contract_basis_known", condition=Q(basis__in=sorted(Basis))
            ),
            models.CheckConstraint(
                name="contract_payers_known",
                condition=Q(
                    stranded_by__in=["holders", "platform"],
                    guarantee_by__in=["holders", "platform"],
                    idle_by__in=["platform", "shared"],
                    down_by__in=["platform", "shared"],
                ),
            ),
            models.CheckConstraint(
                name="contract_numbers_sane",
                condition=Q(floor_milli__lte=1000, tax_milli__lte=1000, minimum_micro__gte=0),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.organization_id or 'all'} from {self.since}"


class Discount(models.Model):
    """So many thousandths off while `valid`: by agreement, for preemptible work, or off peak.

    Empty places mean any. Off-peak discounts count in hours that begin from `from_hour` up to
    `to_hour` of the organization's clock (through midnight when the first is larger), on `days`
    (0 is Monday; none means all).
    """

    uid = UidField(prefix="ds")
    kind = models.CharField(max_length=12)
    milli = models.PositiveIntegerField()
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    partition = models.ForeignKey(
        Partition, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    valid = DateTimeRangeField()
    from_hour = models.PositiveSmallIntegerField(default=0)
    to_hour = models.PositiveSmallIntegerField(default=0)
    days = models.JSONField(default=list)
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="discount_kind_known", condition=Q(kind__in=sorted(Cut))),
            models.CheckConstraint(
                name="discount_numbers_sane",
                condition=Q(milli__gte=1, milli__lte=1000, from_hour__lte=23, to_hour__lte=23),
            ),
            models.CheckConstraint(
                name="discount_span_not_empty",
                condition=Q(valid__isempty=False, valid__lower_inf=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.milli}"


class Overhead(models.Model):
    """A cost of one month beside the cards: licences, adaptation, operations, people.

    `shared` puts it on bills by what each project held; else it is shown apart and nobody pays it.
    """

    uid = UidField(prefix="oh")
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    first = models.DateField()
    kind = models.CharField(max_length=12)
    label = models.CharField(max_length=120)
    currency = models.CharField(max_length=3)
    amount_micro = models.BigIntegerField()
    shared = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-first", "kind", "pk"]
        constraints = [
            models.CheckConstraint(
                name="overhead_kind_known", condition=Q(kind__in=sorted(OVERHEADS))
            ),
            models.CheckConstraint(name="overhead_not_negative", condition=Q(amount_micro__gte=0)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.first:%Y-%m}"
