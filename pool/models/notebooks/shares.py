"""Notebooks whose files the people of their project may look at for a while."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.models.ids import UidField
from pool.models.workloads import Workload


class NotebookShare(models.Model):
    """Until when a notebook's files may be read by its project, and who ended that before.

    One that is over by its time alone stays as it is; `ended_at` is set when somebody ended it, or
    gave another in its place.
    """

    uid = UidField(prefix="ns")
    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="shares")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                name="notebook_share_one_open", fields=["workload"], condition=Q(ended_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"until {self.until:%Y-%m-%d %H:%M}"
