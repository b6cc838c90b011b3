"""The moves on a partition's roll-out board: every switch stays, with what it changed."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.models.ids import UidField
from pool.models.partitions import Partition
from pool.rules.planning.rollout import SWITCHED


class RolloutMove(models.Model):
    """A step of a partition switched on or off; the newest of a step is the one in force.

    `before` and `after` are the columns of the partition that it changed: the way back needs them.
    """

    uid = UidField(prefix="rm")
    partition = models.ForeignKey(Partition, on_delete=models.PROTECT, related_name="rollout")
    step = models.CharField(max_length=12)
    on = models.BooleanField()
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    reason = models.CharField(max_length=200)
    actor_label = models.CharField(max_length=160)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="rollout_step_known",
                condition=Q(step__in=sorted(one.value for one in SWITCHED)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.partition}: {self.step} {'on' if self.on else 'off'}"
