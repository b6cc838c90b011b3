"""What was decided about scheduling, by whom, when and why: every version stays."""

from django.conf import settings
from django.db import models

from pool.models.ids import UidField
from pool.models.partitions import Partition


class PolicyVersion(models.Model):
    """All values in force after one change: of a partition, or (none) the numbers of the rounds.

    The newest number is in force. `reverts` names the version whose values were taken again.
    """

    uid = UidField(prefix="pv")
    partition = models.ForeignKey(
        Partition, on_delete=models.PROTECT, related_name="versions", null=True, blank=True
    )
    number = models.PositiveIntegerField()
    values = models.JSONField(default=dict)
    reason = models.CharField(max_length=200, blank=True)
    actor_label = models.CharField(max_length=160)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    reverts = models.ForeignKey(
        "self", on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                name="policy_version_once",
                fields=["partition", "number"],
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.partition or 'rounds'} {self.number}"
