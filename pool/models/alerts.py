"""Something a person should know about; deduplicated by its key while it is not resolved."""

from django.db import models
from django.db.models import Q

from pool.lifecycle.alerts import ALERT, AlertState
from pool.models.alerting.rules import AlertRule
from pool.models.ids import UidField
from pool.models.tenants import Project


class Alert(models.Model):
    """One condition from first seen to resolved.

    `rule` raised it, or None where the pool itself did, at once. `project` is whose it is, None for
    the pool's. `value` is the last number against `threshold`; `clear_since` is since when it has
    been well again. `flaps` counts firings of the same condition within the hour before this one.
    `told_at` and `over_told_at` are when it was handed to its routes, fired and resolved.
    """

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
    rule = models.ForeignKey(
        AlertRule, on_delete=models.SET_NULL, null=True, blank=True, related_name="alerts"
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, blank=True)
    value = models.FloatField(null=True, blank=True)
    threshold = models.FloatField(null=True, blank=True)
    fired_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    clear_since = models.DateTimeField(null=True, blank=True)
    flaps = models.PositiveSmallIntegerField(default=0)
    told_at = models.DateTimeField(null=True, blank=True)
    over_told_at = models.DateTimeField(null=True, blank=True)
    taken_by = models.CharField(max_length=160, blank=True)
    note = models.CharField(max_length=400, blank=True)

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
        indexes = [
            models.Index(
                fields=["state"],
                condition=Q(told_at=None) | Q(over_told_at=None),
                name="alert_to_tell",
            ),
            models.Index(fields=["key", "-fired_at"], name="alert_by_key"),
        ]

    def __str__(self) -> str:
        return self.title
