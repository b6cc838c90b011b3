"""Who must say yes, and how long they may take, as written: every version stays."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from pool.models.ids import UidField
from pool.models.tenants import Organization


class ApprovalPolicy(models.Model):
    """One version of the policy of an organization, or (none) of all that have no own one.

    The newest number is in force; a template's own steps come before it. `steps` are as in
    `pool/rules/approval.py`, `calendar` as in `pool/rules/working.py`; hours are working hours.
    """

    uid = UidField(prefix="ap")
    organization = models.ForeignKey(
        Organization,
        on_delete=models.PROTECT,
        related_name="approval_policies",
        null=True,
        blank=True,
    )
    number = models.PositiveIntegerField()
    steps = models.JSONField(default=list)
    answer_hours = models.PositiveSmallIntegerField(default=8)
    remind_hours = models.PositiveSmallIntegerField(default=4)
    escalate_hours = models.PositiveSmallIntegerField(default=12)
    calendar = models.JSONField(default=dict)
    reason = models.CharField(max_length=200, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                name="approval_policy_once",
                fields=["organization", "number"],
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                name="approval_policy_hours_in_order",
                condition=Q(remind_hours__gte=1, answer_hours__gte=1)
                & Q(escalate_hours__gte=F("remind_hours")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.organization or 'all'} {self.number}"
