"""Changes of quota rows that wait for their day, and grants that end by themselves."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.lifecycle.targets import PLANNED_QUOTA, PlannedQuotaKind, PlannedQuotaState
from pool.models.ids import UidField
from pool.models.partitions import Partition
from pool.models.tenants import Organization, Project


class PlannedQuota(models.Model):
    """One row of one tenant is set to `amount` on a day, or has `amount` more for a time.

    The tenant is named as in `Quota`; the row itself may not be there yet. Amounts are in the
    unit's own numbers. A grant has an end; a value that is set stays.
    """

    uid = UidField(prefix="qp")
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    partition = models.ForeignKey(Partition, on_delete=models.PROTECT, related_name="+")
    card_model = models.CharField(max_length=80, default="", blank=True)
    unit = models.CharField(max_length=16)
    kind = models.CharField(max_length=12)
    does = models.CharField(max_length=8)
    amount = models.BigIntegerField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=12, default=PLANNED_QUOTA.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_reason = models.CharField(max_length=200, blank=True)
    reason = models.CharField(max_length=200)
    actor_label = models.CharField(max_length=160)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="planned_quota_state_known", condition=Q(state__in=sorted(PlannedQuotaState))
            ),
            models.CheckConstraint(
                name="planned_quota_does_known", condition=Q(does__in=sorted(PlannedQuotaKind))
            ),
            models.CheckConstraint(
                name="planned_quota_unit_known", condition=Q(unit__in=sorted(QuotaUnit))
            ),
            models.CheckConstraint(
                name="planned_quota_kind_known", condition=Q(kind__in=sorted(QuotaKind))
            ),
            models.CheckConstraint(name="planned_quota_not_negative", condition=Q(amount__gte=0)),
            models.CheckConstraint(
                name="planned_quota_grants_end",
                condition=Q(does="set", ends_at=None)
                | Q(does="grant", ends_at__gt=F("starts_at"), amount__gt=0),
            ),
            models.CheckConstraint(
                name="planned_quota_has_one_tenant",
                condition=Q(organization__isnull=False, project=None, user=None)
                | Q(organization=None, project__isnull=False),
            ),
        ]
        indexes = [
            models.Index(
                fields=["starts_at"], name="planned_quota_due", condition=Q(state="ahead")
            ),
            models.Index(
                fields=["ends_at"], name="planned_quota_ends", condition=Q(state="in_force")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.does} {self.amount} {self.unit}"
