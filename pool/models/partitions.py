"""Named sets of cards with their own access, modes and policies."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from pool.lifecycle.cards import ForeignWork
from pool.models.ids import UidField
from pool.models.tenants import Organization, TrustGroup


class Partition(models.Model):
    """A card is in exactly one partition; `selector` says which (keys of docs/rules.md).

    `class_policies` names the placement of single work classes, where it is not `policy`. Where
    `trust_groups` are named only they share cards without hardware isolation. `lending` lends
    what is kept for a reserved lease and idle. `foreign_work` is what becomes of a card that people
    use without the pool.
    """

    uid = UidField(prefix="pt")
    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=120)
    selector = models.JSONField(default=dict)
    modes = ArrayField(models.CharField(max_length=16), default=list)
    policy = models.CharField(max_length=16, default="binpack")
    class_policies = models.JSONField(default=dict)
    preemption = models.BooleanField(default=True)
    sharing = models.BooleanField(default=True)
    lending = models.BooleanField(default=True)
    trust_groups = models.ManyToManyField(TrustGroup, blank=True, related_name="partitions")
    open_to_all = models.BooleanField(default=True)
    organizations = models.ManyToManyField(Organization, blank=True, related_name="partitions")
    tolerance_points = models.PositiveSmallIntegerField(default=2)
    give_back_seconds = models.PositiveIntegerField(default=300)
    ceilings = models.JSONField(default=dict)
    foreign_work = models.CharField(
        max_length=8, default=ForeignWork.BLOCK, db_default=ForeignWork.BLOCK
    )
    rank = models.PositiveSmallIntegerField(default=100)
    example = models.BooleanField(default=False)

    class Meta:
        ordering = ["rank", "slug"]
        constraints = [
            models.CheckConstraint(
                name="partition_policy_known",
                condition=Q(policy__in=["binpack", "spread", "fragmentation"]),
            ),
            models.CheckConstraint(
                name="partition_foreign_work_known",
                condition=Q(foreign_work__in=sorted(ForeignWork)),
            ),
        ]

    def __str__(self) -> str:
        return self.name
