"""What each scheduling round did and how long it took, and the running sums since the beginning."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

BUCKETS_MS = (5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000)
"""Upper ends of the classes of duration that `RoundTotal.buckets` counts; the last one is open."""


class Round(models.Model):
    """One round: durations of its three steps in microseconds, its size, and what it decided.

    Rounds that decided nothing are kept at most one a minute; the totals count every one.
    """

    at = models.DateTimeField()
    taken_us = models.PositiveIntegerField()
    planned_us = models.PositiveIntegerField()
    committed_us = models.PositiveIntegerField()
    cards = models.PositiveIntegerField()
    waiting = models.PositiveIntegerField()
    placed = models.PositiveIntegerField(default=0)
    carving = models.PositiveIntegerField(default=0)
    preempted = models.PositiveIntegerField(default=0)
    stale = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["at"], name="round_by_time")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S}: {self.placed} of {self.waiting}"

    @property
    def took_us(self) -> int:
        """The whole round, in microseconds."""
        return self.taken_us + self.planned_us + self.committed_us

    @property
    def quiet(self) -> bool:
        """Whether it changed nothing at all."""
        return not (self.placed or self.carving or self.preempted or self.stale)


class RoundTotal(models.Model):
    """One row: sums over every round there ever was; they never fall, so they can be counters."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    rounds = models.BigIntegerField(default=0)
    placed = models.BigIntegerField(default=0)
    carving = models.BigIntegerField(default=0)
    preempted = models.BigIntegerField(default=0)
    stale = models.BigIntegerField(default=0)
    taken_us = models.BigIntegerField(default=0)
    planned_us = models.BigIntegerField(default=0)
    committed_us = models.BigIntegerField(default=0)
    buckets = ArrayField(models.BigIntegerField(), default=list)

    class Meta:
        constraints = [
            models.CheckConstraint(name="round_total_one_row", condition=Q(id=1)),
        ]

    def __str__(self) -> str:
        return f"{self.rounds} rounds"
