"""Recorded work that what-ifs replay: a period of the books, or a file that somebody gave."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.lifecycle.studies import TraceSource
from pool.models.ids import UidField
from pool.models.tenants import Organization


class Trace(models.Model):
    """`lines` is what a file told, `work` and `world` what is replayed: jobs, and the empty pool.

    All three are packed JSON; work and world are taken once, when the first what-if runs, so that
    every later one replays the same. `left_out` counts what is not replayed, by reason.
    """

    uid = UidField(prefix="tr")
    name = models.CharField(max_length=80)
    source = models.CharField(max_length=8)
    shape = models.CharField(max_length=8, blank=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    since = models.DateTimeField(null=True, blank=True)
    until = models.DateTimeField(null=True, blank=True)
    lines = models.BinaryField(null=True, blank=True)
    work = models.BinaryField(null=True, blank=True)
    world = models.BinaryField(null=True, blank=True)
    jobs = models.PositiveIntegerField(default=0)
    teams = models.JSONField(default=list)
    left_out = models.JSONField(default=dict)
    digest = models.CharField(max_length=64, blank=True)
    taken_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="trace_source_known", condition=Q(source__in=sorted(TraceSource))
            ),
            models.CheckConstraint(
                name="trace_of_books_has_a_period",
                condition=Q(source="books", since__lt=models.F("until"))
                | Q(source="file", lines__isnull=False),
            ),
            models.CheckConstraint(
                name="trace_taken_whole",
                condition=Q(taken_at=None)
                | Q(taken_at__isnull=False, work__isnull=False, world__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name
