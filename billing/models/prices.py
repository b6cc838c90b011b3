"""The dated price book."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import Q

from billing.rating.tariffs import Unit
from pool.models.ids import UidField
from pool.models.partitions import Partition


class Price(models.Model):
    """What one hour of one unit costs in a partition while `valid`.

    `rate_micro` is in 10⁻⁶ of the currency per card equivalent, core or GiB, and hour. An empty
    card model, mode or class means any; the most exact price that fits counts. Prices of one key
    never overlap, so that every moment has one price.
    """

    uid = UidField(prefix="pc")
    partition = models.ForeignKey(Partition, on_delete=models.PROTECT, related_name="prices")
    currency = models.CharField(max_length=3)
    unit = models.CharField(max_length=8, default=Unit.CARD.value)
    card_model = models.CharField(max_length=80, blank=True, default="")
    mode = models.CharField(max_length=16, blank=True, default="")
    price_class = models.CharField(max_length=32, blank=True, default="")
    rate_micro = models.BigIntegerField()
    valid = DateTimeRangeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["partition", "currency", "unit", "card_model", "mode", "price_class", "valid"]
        constraints = [
            ExclusionConstraint(
                name="price_one_at_a_time",
                expressions=[
                    ("partition", RangeOperators.EQUAL),
                    ("currency", RangeOperators.EQUAL),
                    ("unit", RangeOperators.EQUAL),
                    ("card_model", RangeOperators.EQUAL),
                    ("mode", RangeOperators.EQUAL),
                    ("price_class", RangeOperators.EQUAL),
                    ("valid", RangeOperators.OVERLAPS),
                ],
            ),
            models.CheckConstraint(name="price_unit_known", condition=Q(unit__in=sorted(Unit))),
            models.CheckConstraint(name="price_not_negative", condition=Q(rate_micro__gte=0)),
            models.CheckConstraint(
                name="price_span_not_empty",
                condition=Q(valid__isempty=False, valid__lower_inf=False),
            ),
            models.CheckConstraint(
                name="price_of_host_names_no_card",
                condition=Q(unit="card") | Q(card_model="", mode=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.partition_id} {self.card_model or self.unit}: {self.rate_micro}"
