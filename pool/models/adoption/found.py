"""Work that a node runs and the books do not know: after a restored backup, mostly."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from pool.lifecycle.found import FOUND, FoundState
from pool.models.ids import UidField
from pool.models.nodes import Node
from pool.models.workloads import Workload


class FoundWork(models.Model):
    """One attempt on one node, by the uids that the node tells.

    `origin` is as what it was wanted there once (the protocol's Origin as a mapping), None where
    the node does not know it any more; without it nobody can adopt. `cards` are the uuids of the
    cards that it uses: they are contested while it runs. `workload` is what it was adopted as.
    """

    uid = UidField(prefix="fw")
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="found_work")
    attempt = models.CharField(max_length=64)
    told_workload = models.CharField(max_length=64, blank=True)
    rank = models.PositiveIntegerField(default=0)
    pid = models.PositiveBigIntegerField(null=True, blank=True)
    origin = models.JSONField(null=True, blank=True)
    cards = ArrayField(models.CharField(max_length=80), default=list)
    state = models.CharField(max_length=12, default=FOUND.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_reason = models.CharField(max_length=200, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    found_at = models.DateTimeField(auto_now_add=True)
    exit_code = models.IntegerField(null=True, blank=True)
    exit_reason = models.CharField(max_length=16, blank=True)
    workload = models.ForeignKey(
        Workload, on_delete=models.PROTECT, related_name="found_as", null=True, blank=True
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="foundwork_state_known", condition=Q(state__in=sorted(FoundState))
            ),
            models.CheckConstraint(
                name="foundwork_adopted_as_something",
                condition=Q(state="adopted", workload__isnull=False)
                | ~Q(state="adopted") & Q(workload=None),
            ),
            models.UniqueConstraint(name="foundwork_once", fields=["node", "attempt"]),
        ]
        indexes = [
            models.Index(
                fields=["node"],
                name="foundwork_there",
                condition=Q(state__in=["running", "stopping"]),
            ),
        ]

    def __str__(self) -> str:
        return self.attempt
