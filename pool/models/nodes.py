"""Machines with cards, how they join, and what they said of themselves."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from pool.lifecycle.nodes import NODE, NodeState
from pool.models.ids import UidField


class Node(models.Model):
    """One machine. Columns after `# observed` are written by services/observed.py alone.

    `generation` numbers what the portal wants of it; `reached` what the node has tried.
    """

    uid = UidField(prefix="nd")
    name = models.CharField(max_length=253)
    name_folded = models.CharField(max_length=300, unique=True)
    state = models.CharField(max_length=12, default=NODE.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_before = models.CharField(max_length=12, blank=True)
    state_reason = models.CharField(max_length=200, blank=True)
    generation = models.BigIntegerField(default=0)
    credential_hash = models.CharField(max_length=64, blank=True, db_index=True)
    credential_issued_at = models.DateTimeField(null=True, blank=True)
    observe = models.BooleanField(default=False)
    example = models.BooleanField(default=False)
    joined_at = models.DateTimeField(auto_now_add=True)
    # observed
    boot_id = models.CharField(max_length=64, blank=True)
    labels = models.JSONField(default=dict)
    cpu_milli = models.BigIntegerField(default=0)
    memory_mib = models.BigIntegerField(default=0)
    disk_mib = models.BigIntegerField(default=0)
    identity = models.BooleanField(default=False)
    fence = models.BooleanField(default=False)
    simulated = models.BooleanField(default=False)
    host = models.JSONField(default=dict)
    agent_version = models.CharField(max_length=40, blank=True)
    protocol = models.PositiveSmallIntegerField(default=1)
    skew_s = models.FloatField(null=True, blank=True)
    reached = models.BigIntegerField(default=0)
    last_report_at = models.DateTimeField(null=True, blank=True)
    report_count = models.BigIntegerField(default=0)
    sample_boot_id = models.CharField(max_length=64, blank=True)
    sample_sequence = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["name_folded"]
        constraints = [
            models.CheckConstraint(
                name="node_state_known", condition=Q(state__in=sorted(NodeState))
            ),
            models.CheckConstraint(name="node_has_name", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name


class JoinToken(models.Model):
    """Lets one node in, once. Only the hash is kept."""

    uid = UidField(prefix="jt")
    token_hash = models.CharField(max_length=64, unique=True)
    node_name = models.CharField(max_length=253, blank=True)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(Node, on_delete=models.PROTECT, null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return str(self.uid)


class NodeWatch(models.Model):
    """Silence as one watching machine saw it, on its own CLOCK_BOOTTIME (seconds).

    `swept_at` is its last look on the database's clock: silence counts only while somebody looks.
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="watches")
    watcher_boot_id = models.CharField(max_length=64)
    report_count = models.BigIntegerField()
    first_seen_boottime = models.FloatField()
    swept_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(name="node_watch_once", fields=["node", "watcher_boot_id"]),
        ]

    def __str__(self) -> str:
        return f"{self.node} seen by {self.watcher_boot_id}"
