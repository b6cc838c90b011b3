"""Something a person should know about; deduplicated by its key while it is not resolved."""

from django.db import models
from django.db.models import Q

from pool.lifecycle.alerts import ALERT, AlertState
from pool.models.ids import UidField


class Alert(models.Model):
    """One condition from first seen to resolved."""

    uid = UidField(prefix="al")
    key = models.CharField(max_length=200)
    family = models.CharField(max_length=12, default="hardware")
    severity = models.CharField(max_length=12, default="warning")
    subject = models.CharField(max_length=80, db_index=True)
    title = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)
    state = models.CharField(max_length=14, default=ALERT.first)
    state_since = models.DateTimeField(auto_now_add=True)
    first_seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="alert_state_known", condition=Q(state__in=sorted(AlertState))
            ),
            models.UniqueConstraint(
                name="alert_one_open_per_key", fields=["key"], condition=~Q(state="resolved")
            ),
        ]

    def __str__(self) -> str:
        return self.title
