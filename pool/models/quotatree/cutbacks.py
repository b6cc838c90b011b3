"""Leases that stand unused: who was told, until when, and what they were cut back to."""

from django.db import models
from django.db.models import Q

from pool.lifecycle.targets import CUTBACK, CutbackState
from pool.models.ids import UidField
from pool.models.leases import Lease


class Cutback(models.Model):
    """A lease of which too little was used is cut back at `due_at`, unless it is used until then.

    `used_milli` is the part of its copies that was in use over the time looked at, in thousandths;
    `copies` what it had, `keeps` what it keeps: none means that it ends.
    """

    uid = UidField(prefix="cb")
    lease = models.ForeignKey(Lease, on_delete=models.PROTECT, related_name="cutbacks")
    used_milli = models.PositiveIntegerField()
    copies = models.PositiveIntegerField()
    keeps = models.PositiveIntegerField()
    due_at = models.DateTimeField()
    state = models.CharField(max_length=12, default=CUTBACK.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="cutback_state_known", condition=Q(state__in=sorted(CutbackState))
            ),
            models.CheckConstraint(
                name="cutback_keeps_less", condition=Q(keeps__lt=models.F("copies"))
            ),
            models.UniqueConstraint(
                name="cutback_one_open", fields=["lease"], condition=Q(state="noticed")
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="cutback_due", condition=Q(state="noticed")),
        ]

    def __str__(self) -> str:
        return str(self.uid)
