"""Licence seats: so many holders of a mode at a time, in an organization or a partition."""

from django.db import models

from nodeagent.protocol.vocabulary import Mode
from pool.models.ids import UidField
from pool.models.partitions import Partition
from pool.models.tenants import Organization

MODES = sorted(Mode)


class Seats(models.Model):
    """At most `total` slices of the mode are held at a time; no organization or partition: any."""

    uid = UidField(prefix="st")
    name = models.CharField(max_length=120)
    mode = models.CharField(max_length=16)
    total = models.PositiveIntegerField()
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="seats", null=True, blank=True
    )
    partition = models.ForeignKey(
        Partition, on_delete=models.PROTECT, related_name="seats", null=True, blank=True
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["mode", "pk"]
        constraints = [
            models.CheckConstraint(name="seats_mode_known", condition=models.Q(mode__in=MODES)),
            models.UniqueConstraint(
                name="seats_once",
                fields=["mode", "organization", "partition"],
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return self.name
