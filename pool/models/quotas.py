"""Quota rows: how much of one unit one tenant may hold, be allowed, or be entitled to."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models.ids import UidField
from pool.models.partitions import Partition
from pool.models.tenants import Organization, Project


class Quota(models.Model):
    """One level of one unit. The tenant is an organization, a project, or a user inside a project.

    `card_model` is empty for host units. Units: micro-cards, MiB, milli-compute, card-seconds,
    thousandths of a core, count of workloads. `held` never passes `ceiling`, which is the
    greater of
    `limit_value` and what was held when the limit was cut; starts are admitted only while
    held + new <= limit_value. `granted` is the part of `limit_value` that grants add for a time;
    of a guarantee (kind entitlement) at most `lend_limit` is lent while it is idle, all if None.
    """

    uid = UidField(prefix="qt")
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="quotas", null=True, blank=True
    )
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="quotas", null=True, blank=True
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="quotas",
        null=True,
        blank=True,
    )
    partition = models.ForeignKey(Partition, on_delete=models.PROTECT, related_name="quotas")
    card_model = models.CharField(max_length=80, default="", blank=True)
    unit = models.CharField(max_length=16)
    kind = models.CharField(max_length=12)
    limit_value = models.BigIntegerField()
    held = models.BigIntegerField(default=0)
    ceiling = models.BigIntegerField()
    granted = models.BigIntegerField(default=0)
    lend_limit = models.BigIntegerField(null=True, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="quota_held_within_ceiling",
                condition=Q(held__gte=0, held__lte=F("ceiling")),
            ),
            models.CheckConstraint(
                name="quota_ceiling_covers_limit", condition=Q(ceiling__gte=F("limit_value"))
            ),
            models.CheckConstraint(
                name="quota_limit_not_negative", condition=Q(limit_value__gte=0)
            ),
            models.CheckConstraint(
                name="quota_grants_within_limit",
                condition=Q(granted__gte=0, granted__lte=F("limit_value")),
            ),
            models.CheckConstraint(
                name="quota_lends_what_is_guaranteed",
                condition=Q(lend_limit=None) | Q(lend_limit__gte=0, kind="entitlement"),
            ),
            models.CheckConstraint(
                name="quota_unit_known", condition=Q(unit__in=sorted(QuotaUnit))
            ),
            models.CheckConstraint(
                name="quota_kind_known", condition=Q(kind__in=sorted(QuotaKind))
            ),
            models.CheckConstraint(
                name="quota_has_one_tenant",
                condition=Q(organization__isnull=False, project=None, user=None)
                | Q(organization=None, project__isnull=False),
            ),
            models.UniqueConstraint(
                name="quota_once",
                fields=[
                    "organization",
                    "project",
                    "user",
                    "partition",
                    "card_model",
                    "unit",
                    "kind",
                ],
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.unit}: {self.held} of {self.limit_value}"
