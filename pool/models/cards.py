"""Accelerators."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from pool.lifecycle.cards import CARD, CardState
from pool.models.ids import UidField
from pool.models.nodes import Node
from pool.models.partitions import Partition


class Card(models.Model):
    """One physical accelerator; identity is `uuid`, never its index; `facts` is its inventory.

    `foreign` names the processes on it that the pool did not start, as its node told last.
    """

    uid = UidField(prefix="cd")
    uuid = models.CharField(max_length=96, unique=True)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="cards")
    index = models.PositiveSmallIntegerField(default=0)
    partition = models.ForeignKey(
        Partition, on_delete=models.PROTECT, related_name="cards", null=True, blank=True
    )
    vendor = models.CharField(max_length=16)
    model = models.CharField(max_length=120)
    label = models.CharField(max_length=80, db_index=True)
    nominal_gb = models.PositiveIntegerField()
    memory_mib = models.PositiveIntegerField()
    modes = ArrayField(models.CharField(max_length=16), default=list)
    domain = models.CharField(max_length=96, blank=True)
    numa = models.SmallIntegerField(null=True, blank=True)
    strength = models.PositiveIntegerField(null=True, blank=True)
    tdp_w = models.PositiveIntegerField(null=True, blank=True)
    facts = models.JSONField(default=dict)
    state = models.CharField(max_length=12, default=CARD.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_reason = models.CharField(max_length=200, blank=True)
    clean_until = models.DateTimeField(null=True, blank=True)
    errors_seen = models.BigIntegerField(default=0)
    offered = models.BooleanField(default=True)
    foreign = models.JSONField(default=list, blank=True, db_default=[])

    class Meta:
        ordering = ["node", "index"]
        constraints = [
            models.CheckConstraint(
                name="card_state_known", condition=Q(state__in=sorted(CardState))
            ),
            models.CheckConstraint(
                name="card_has_memory", condition=Q(memory_mib__gt=0, nominal_gb__gt=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} {self.uuid}"
