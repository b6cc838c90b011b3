"""Cards kept for a reserved lease from its start to its end."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import Q

from pool.lifecycle.reservations import RESERVATION, ReservationState
from pool.models.cards import Card
from pool.models.ids import UidField
from pool.models.leases import Lease
from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.models.tenants import Project


class Reservation(models.Model):
    """What a reserved request asks to be kept, and once confirmed which cards are.

    `quota_taken` is what stands in limit rows for the cards while it is active. `used_at` is the
    first start on its cards; none within the no-show time lets the cards go. `began_at` and
    `over_at` bound the time for which its cards were really kept: that is paid.
    """

    uid = UidField(prefix="rv")
    request = models.OneToOneField(Request, on_delete=models.PROTECT, related_name="reservation")
    lease = models.OneToOneField(
        Lease, on_delete=models.PROTECT, related_name="reservation", null=True, blank=True
    )
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="reservations")
    partition = models.ForeignKey(
        Partition, on_delete=models.PROTECT, related_name="reservations", null=True, blank=True
    )
    span = DateTimeRangeField()
    state = models.CharField(max_length=10, default=RESERVATION.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_reason = models.CharField(max_length=200, blank=True)
    quota_taken = models.JSONField(default=list)
    began_at = models.DateTimeField(null=True, blank=True)
    over_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="reservation_state_known", condition=Q(state__in=sorted(ReservationState))
            ),
            models.CheckConstraint(
                name="reservation_has_an_end",
                condition=Q(span__lower_inf=False, span__upper_inf=False, span__isempty=False),
            ),
            models.CheckConstraint(
                name="reservation_of_a_lease",
                condition=~Q(state__in=["confirmed", "active"])
                | Q(lease__isnull=False, partition__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return str(self.uid)


class ReservedCard(models.Model):
    """One card kept for one reservation; while both live no two spans of a card overlap."""

    reservation = models.ForeignKey(Reservation, on_delete=models.CASCADE, related_name="kept")
    card = models.ForeignKey(Card, on_delete=models.PROTECT, related_name="reserved")
    span = DateTimeRangeField()
    live = models.BooleanField(default=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(name="reserved_card_once", fields=["reservation", "card"]),
            ExclusionConstraint(
                name="reserved_card_one_at_a_time",
                expressions=[
                    ("card", RangeOperators.EQUAL),
                    ("span", RangeOperators.OVERLAPS),
                ],
                condition=Q(live=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.card} for {self.reservation}"
