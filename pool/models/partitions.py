"""Named sets of cards with their own access, modes and policies."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from pool.models.ids import UidField
from pool.models.tenants import Organization


class Partition(models.Model):
    """A card is in exactly one partition; `selector` says which (keys of docs/rules.md)."""

    uid = UidField(prefix="pt")
    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=120)
    selector = models.JSONField(default=dict)
    modes = ArrayField(models.CharField(max_length=16), default=list)
    policy = models.CharField(max_length=16, default="binpack")
    preemption = models.BooleanField(default=False)
    sharing = models.BooleanField(default=True)
    open_to_all = models.BooleanField(default=True)
    organizations = models.ManyToManyField(Organization, blank=True, related_name="partitions")
    tolerance_points = models.PositiveSmallIntegerField(default=2)
    give_back_seconds = models.PositiveIntegerField(default=300)
    ceilings = models.JSONField(default=dict)
    rank = models.PositiveSmallIntegerField(default=100)
    example = models.BooleanField(default=False)

    class Meta:
        ordering = ["rank", "slug"]
        constraints = [
            models.CheckConstraint(
                name="partition_policy_known",
                condition=Q(policy__in=["binpack", "spread", "fragmentation"]),
            ),
        ]

    def __str__(self) -> str:
        return self.name
