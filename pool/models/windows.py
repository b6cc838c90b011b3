"""Maintenance: when which cards, nodes and partitions are out of service, and why."""

from django.conf import settings
from django.contrib.postgres.fields import DateTimeRangeField
from django.db import models
from django.db.models import Q

from pool.lifecycle.windows import WINDOW, WindowState, WithRunning
from pool.models.cards import Card
from pool.models.ids import UidField
from pool.models.nodes import Node
from pool.models.partitions import Partition


class Window(models.Model):
    """Nothing starts that is forecast to overlap `span` on what it names.

    A partition means the cards that are in it at the time. `taken` notes what the window took out
    of service at its start ({"nodes": […], "cards": […]}, uids): only that comes back at its end.
    `extended` notes by how many seconds each lease (uid) was made longer for it.
    """

    uid = UidField(prefix="mw")
    reason = models.CharField(max_length=200)
    span = DateTimeRangeField()
    cards = models.ManyToManyField(Card, blank=True, related_name="windows")
    nodes = models.ManyToManyField(Node, blank=True, related_name="windows")
    partitions = models.ManyToManyField(Partition, blank=True, related_name="windows")
    with_running = models.CharField(max_length=8, default=WithRunning.WAIT)
    notice_seconds = models.PositiveIntegerField(default=300)
    state = models.CharField(max_length=10, default=WINDOW.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_reason = models.CharField(max_length=200, blank=True)
    taken = models.JSONField(default=dict)
    extended = models.JSONField(default=dict)
    noticed = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="window_state_known", condition=Q(state__in=sorted(WindowState))
            ),
            models.CheckConstraint(
                name="window_with_running_known", condition=Q(with_running__in=sorted(WithRunning))
            ),
            models.CheckConstraint(
                name="window_has_an_end",
                condition=Q(span__lower_inf=False, span__upper_inf=False, span__isempty=False),
            ),
            models.CheckConstraint(name="window_has_a_reason", condition=~Q(reason="")),
        ]
        indexes = [
            models.Index(
                fields=["id"], name="window_open", condition=Q(state__in=["planned", "active"])
            ),
        ]

    def __str__(self) -> str:
        return self.reason
