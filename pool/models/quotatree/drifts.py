"""Quota rows whose count is not what was really taken of them, and what was done about it."""

from django.db import models
from django.db.models import Q

from pool.models.quotas import Quota


class QuotaDrift(models.Model):
    """`held` is what the row said, `counted` what placements and claims took of it.

    It is repaired only when two looks, one reconcile period apart, found the same two numbers.
    `repaired_at` is empty while it is only seen; a drift that was gone at the next look has
    `passed_at`.
    """

    quota = models.ForeignKey(Quota, on_delete=models.CASCADE, related_name="drifts")
    held = models.BigIntegerField()
    counted = models.BigIntegerField()
    seen_at = models.DateTimeField()
    repaired_at = models.DateTimeField(null=True, blank=True)
    repaired_by = models.CharField(max_length=160, blank=True)
    passed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                name="quota_drift_one_open",
                fields=["quota"],
                condition=Q(repaired_at=None, passed_at=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.quota_id}: {self.held}, counted {self.counted}"
