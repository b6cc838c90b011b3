"""Orders to give way, and what organizations may run of the critical class."""

from django.db import models
from django.db.models import Q

from pool.lifecycle.yielding import YieldKind, YieldOutcome
from pool.models.ids import UidField
from pool.models.tenants import Organization
from pool.models.workloads import Attempt, Workload


class YieldOrder(models.Model):
    """One order to one running attempt to leave: NOTICE, ACK, CHECKPOINT, RELEASE, each with time.

    The deadline is the order's own: whatever becomes of the workload, it is stopped then at the
    latest. `lost_card_s` is what was not saved when it was given, in card-seconds. The winner is
    who gets the room; owners of the victim are told of the kind, never of the name.
    """

    uid = UidField(prefix="yo")
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="orders")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="orders")
    winner = models.ForeignKey(
        Workload, on_delete=models.PROTECT, related_name="won_orders", null=True, blank=True
    )
    kind = models.CharField(max_length=12, default=YieldKind.PREEMPT)
    reason = models.CharField(max_length=200, blank=True)
    ordered_by = models.CharField(max_length=160, blank=True)
    ordered_at = models.DateTimeField()
    deadline = models.DateTimeField()
    lost_card_s = models.FloatField(default=0)
    noticed_at = models.DateTimeField(null=True, blank=True)
    ack_at = models.DateTimeField(null=True, blank=True)
    checkpoint_at = models.DateTimeField(null=True, blank=True)
    checkpoint_step = models.BigIntegerField(null=True, blank=True)
    checkpoint_path = models.CharField(max_length=400, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=8, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                name="yield_one_open_per_attempt",
                fields=["attempt"],
                condition=Q(settled_at=None),
            ),
            models.CheckConstraint(
                name="yield_kind_known", condition=Q(kind__in=sorted(YieldKind))
            ),
            models.CheckConstraint(
                name="yield_outcome_known",
                condition=Q(settled_at=None, outcome="")
                | Q(settled_at__isnull=False, outcome__in=sorted(YieldOutcome)),
            ),
        ]

    def __str__(self) -> str:
        return str(self.uid)


class CriticalBudget(models.Model):
    """What one organization may run of the critical class in one month, in card-seconds.

    `month` is its first day, by the clock in UTC. A platform admin grants it; without a row nobody
    there submits critical work.
    """

    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="critical_budgets"
    )
    month = models.DateField()
    card_seconds = models.PositiveBigIntegerField()
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["organization", "-month"]
        constraints = [
            models.UniqueConstraint(name="critical_budget_once", fields=["organization", "month"]),
            models.CheckConstraint(name="critical_budget_month_begins", condition=Q(month__day=1)),
        ]

    def __str__(self) -> str:
        return f"{self.organization_id} {self.month:%Y-%m}"
