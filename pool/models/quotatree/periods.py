"""How many card-seconds a row that counts by the month has been used for so far."""

from django.db import models
from django.db.models import Q

from pool.models.quotas import Quota


class QuotaPeriod(models.Model):
    """The month that is counted for one row of unit card_seconds; worked out anew each minute.

    `used` was held since the month began, `promised` is what runs and has declared still to hold.
    `counted_to` is the last hold that was counted: later ones are added where a start is judged.
    """

    quota = models.OneToOneField(Quota, on_delete=models.CASCADE, related_name="period")
    since = models.DateTimeField()
    used = models.BigIntegerField(default=0)
    promised = models.BigIntegerField(default=0)
    counted_at = models.DateTimeField()
    counted_to = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="quota_period_not_negative", condition=Q(used__gte=0, promised__gte=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.quota_id}: {self.used} since {self.since:%Y-%m}"
