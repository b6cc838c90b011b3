"""What people ask so that a notebook is left alone for a night, and what was said to it."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.lifecycle.idleness import NightAnswer
from pool.models.ids import UidField
from pool.models.workloads import Workload


class NightKeep(models.Model):
    """Until when a notebook shall not be reclaimed, why, and at which plain named weights.

    `answer` is empty while nobody has answered; what is open at `until` is over by itself.
    """

    uid = UidField(prefix="nk")
    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="night_keeps")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    until = models.DateTimeField()
    reason = models.CharField(max_length=200)
    weights = models.JSONField(default=dict, blank=True)
    asked_at = models.DateTimeField(auto_now_add=True)
    answer = models.CharField(max_length=9, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, related_name="+", null=True, blank=True
    )
    words = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="night_keep_answer_known", condition=Q(answer__in=["", *sorted(NightAnswer)])
            ),
            models.UniqueConstraint(
                name="night_keep_one_open", fields=["workload"], condition=Q(answer="")
            ),
        ]

    def __str__(self) -> str:
        return f"until {self.until:%Y-%m-%d %H:%M}"
