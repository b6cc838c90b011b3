"""The one row that says what this installation is, and counters that all processes share."""

from django.db import models
from django.db.models import Q


class Installation(models.Model):
    """One row. A restored backup raises `epoch`, at `epoch_raised_at`.

    Rounds run while `round_done` < `round_wanted`.

    `wait_target_s` is how long work should wait at most, nineteen times out of twenty.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    epoch = models.IntegerField(default=1)
    epoch_raised_at = models.DateTimeField(null=True, blank=True)
    example = models.BooleanField(default=False)
    first_run = models.CharField(max_length=12, default="")
    round_wanted = models.BigIntegerField(default=0)
    round_done = models.BigIntegerField(default=0)
    wait_target_s = models.PositiveIntegerField(default=1800)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="installation_one_row", condition=Q(id=1)),
        ]

    def __str__(self) -> str:
        return f"epoch {self.epoch}"


class ClockShift(models.Model):
    """Moves the pool's clock in test stacks and demonstrations; production refuses this row.

    now = base_pool + (clock_timestamp() − base_real) × speed.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    base_real = models.DateTimeField()
    base_pool = models.DateTimeField()
    speed = models.FloatField(default=1.0)

    class Meta:
        constraints = [
            models.CheckConstraint(name="clock_shift_one_row", condition=Q(id=1)),
            models.CheckConstraint(name="clock_shift_runs_on", condition=Q(speed__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.base_pool} × {self.speed}"
