"""The parts of a gang: one attempt on several nodes, one rank on each of them."""

from django.db import models
from django.db.models import Q

from nodeagent.protocol.vocabulary import ExitReason
from pool.models.nodes import Node
from pool.models.workloads import Attempt

EXIT_REASONS = sorted(ExitReason)


class Rank(models.Model):
    """One node's part of an attempt that runs on several; what that node reported of it.

    An attempt on one node has none: its own row says it all. `cards` is how many cards or slices
    the rank got. `clean_at` is when its node reported it clean; `lost_at` when the books gave it
    up, as its node is dead or was fenced: that node stops it should it ever return.
    """

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="ranks")
    rank = models.PositiveSmallIntegerField()
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="ranks")
    cards = models.PositiveSmallIntegerField(default=0)
    accepted_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    exit_reason = models.CharField(max_length=16, blank=True)
    message = models.CharField(max_length=400, blank=True)
    log_bytes = models.BigIntegerField(default=0)
    peak_memory_mib = models.PositiveIntegerField(null=True, blank=True)
    held_s = models.FloatField(null=True, blank=True)
    clean_at = models.DateTimeField(null=True, blank=True)
    lost_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["attempt", "rank"]
        constraints = [
            models.UniqueConstraint(name="rank_number_once", fields=["attempt", "rank"]),
            models.UniqueConstraint(name="rank_one_per_node", fields=["attempt", "node"]),
            models.CheckConstraint(
                name="rank_exit_reason_known",
                condition=Q(exit_reason__in=["", *EXIT_REASONS]),
            ),
        ]
        indexes = [
            models.Index(fields=["node"], name="rank_not_clean", condition=Q(clean_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.attempt_id}.{self.rank}"

    @property
    def over(self) -> bool:
        """Whether nothing more is expected of it."""
        return self.clean_at is not None or self.lost_at is not None

    @property
    def stage(self) -> str:
        """How far it is, in one word; read from what was reported of it."""
        if self.lost_at is not None:
            return "lost"
        if self.clean_at is not None:
            return "clean"
        if self.ended_at is not None:
            return "ended"
        if self.started_at is not None:
            return "running"
        return "starting" if self.accepted_at is not None else "placed"
