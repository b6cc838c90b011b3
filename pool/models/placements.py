"""Who holds what, where and when: placements, and their holds."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import Q

from pool.lifecycle.placements import PLACEMENT, PlacementState
from pool.models.cards import Card
from pool.models.ids import UidField
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.models.slices import Slice
from pool.models.workloads import Attempt, Workload

UNISOLATED = ["process", "none", "unknown"]


class Placement(models.Model):
    """One attempt on zero or more slices and on the host share of its nodes."""

    uid = UidField(prefix="pl")
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="placements")
    partition = models.ForeignKey(
        Partition, on_delete=models.PROTECT, related_name="placements", null=True, blank=True
    )
    state = models.CharField(max_length=8, default=PLACEMENT.first)
    entitled = models.BooleanField(default=True)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    quota_taken = models.JSONField(default=list)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                name="placement_one_open_per_attempt",
                fields=["attempt"],
                condition=Q(state="open"),
            ),
            models.CheckConstraint(
                name="placement_state_known", condition=Q(state__in=sorted(PlacementState))
            ),
            models.CheckConstraint(
                name="placement_closed_has_end",
                condition=Q(state="open", closed_at=None)
                | Q(state="closed", closed_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return str(self.uid)


class Promise(models.Model):
    """Room on a card (or, for work without cards, on a node) kept for one queued workload.

    Written when idle slices must be removed or others were told to leave; nobody else gets the
    room until then. Taken away when the workload is placed.
    """

    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="promises")
    card = models.ForeignKey(
        Card, on_delete=models.CASCADE, related_name="promises", null=True, blank=True
    )
    node = models.ForeignKey(
        Node, on_delete=models.CASCADE, related_name="promises", null=True, blank=True
    )
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(name="promise_one_per_card", fields=["card"]),
            models.UniqueConstraint(name="promise_one_per_node", fields=["node"]),
            models.CheckConstraint(
                name="promise_card_or_node",
                condition=Q(card__isnull=False, node=None) | Q(card=None, node__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.card_id or self.node_id} for {self.workload_id}"


class Hold(models.Model):
    """One slice, or one node's host share (slice and card None), for a span of time.

    An open end means it is still held. Card, mode, isolation and trust are copied here so that the
    database itself keeps tenants apart: without hardware isolation one card holds one trust
    group at
    a time, and so does a node that can give neither identity nor fence (`fenced` false).
    """

    uid = UidField(prefix="hd")
    placement = models.ForeignKey(Placement, on_delete=models.PROTECT, related_name="holds")
    slice = models.ForeignKey(
        Slice, on_delete=models.PROTECT, related_name="holds", null=True, blank=True
    )
    card = models.ForeignKey(
        Card, on_delete=models.PROTECT, related_name="holds", null=True, blank=True
    )
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="holds")
    mode = models.CharField(max_length=16)
    isolation = models.CharField(max_length=12)
    trust = models.BigIntegerField()
    fenced = models.BooleanField()
    held = DateTimeRangeField()
    equivalents_micro = models.PositiveIntegerField(default=0)
    memory_mib = models.PositiveIntegerField(default=0)
    compute_milli = models.PositiveIntegerField(default=0)
    cpu_milli = models.PositiveIntegerField(default=0)
    ram_mib = models.PositiveIntegerField(default=0)
    disk_mib = models.PositiveIntegerField(default=0)
    agent_held_s = models.FloatField(null=True, blank=True)
    corrected_s = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            ExclusionConstraint(
                name="hold_one_holder_per_slice",
                expressions=[
                    ("slice", RangeOperators.EQUAL),
                    ("held", RangeOperators.OVERLAPS),
                ],
            ),
            ExclusionConstraint(
                name="hold_one_trust_per_unisolated_card",
                expressions=[
                    ("card", RangeOperators.EQUAL),
                    ("trust", RangeOperators.NOT_EQUAL),
                    ("held", RangeOperators.OVERLAPS),
                ],
                condition=Q(isolation__in=UNISOLATED),
            ),
            ExclusionConstraint(
                name="hold_one_trust_per_unfenced_node",
                expressions=[
                    ("node", RangeOperators.EQUAL),
                    ("trust", RangeOperators.NOT_EQUAL),
                    ("held", RangeOperators.OVERLAPS),
                ],
                condition=Q(fenced=False),
            ),
            models.CheckConstraint(
                name="hold_slice_or_host_share",
                condition=Q(slice__isnull=False, card__isnull=False)
                | Q(slice=None, card=None, mode="host"),
            ),
            models.CheckConstraint(name="hold_span_not_empty", condition=Q(held__isempty=False)),
        ]
        indexes = [
            models.Index(fields=["placement"], name="hold_open", condition=Q(held__upper_inf=True)),
        ]

    def __str__(self) -> str:
        return str(self.uid)
