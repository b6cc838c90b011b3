"""Approved requests with an end."""

from django.contrib.postgres.fields import DateTimeRangeField
from django.db import models
from django.db.models import Q

from pool.lifecycle.leases import LEASE, LeaseKind, LeaseState
from pool.models.ids import UidField
from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project


class Lease(models.Model):
    """The right to hold `copies` times `need` in a project until the end of `valid`.

    A recall (`recalled_at`) brings that end forward, with notice and a reason.
    """

    uid = UidField(prefix="ls")
    request = models.OneToOneField(Request, on_delete=models.PROTECT, related_name="lease")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="leases")
    template_version = models.ForeignKey(TemplateVersion, on_delete=models.PROTECT)
    partitions = models.ManyToManyField(Partition, blank=True, related_name="leases")
    need = models.JSONField(default=dict)
    copies = models.PositiveIntegerField(default=1)
    kind = models.CharField(max_length=12, default=LeaseKind.ON_DEMAND)
    valid = DateTimeRangeField()
    entitled = models.JSONField(default=list)
    state = models.CharField(max_length=12, default=LEASE.first)
    state_since = models.DateTimeField(auto_now_add=True)
    deadline = models.DateTimeField(null=True, blank=True)
    notices_sent = models.JSONField(default=list)
    recalled_at = models.DateTimeField(null=True, blank=True)
    recall_reason = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="lease_state_known", condition=Q(state__in=sorted(LeaseState))
            ),
            models.CheckConstraint(
                name="lease_kind_known", condition=Q(kind__in=sorted(LeaseKind))
            ),
            models.CheckConstraint(
                name="lease_has_an_end",
                condition=Q(valid__upper_inf=False, valid__isempty=False),
            ),
        ]

    def __str__(self) -> str:
        return str(self.uid)
