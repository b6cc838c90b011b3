"""Bills: one month of one organization, its lines once it is closed, and complaints about them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from billing.rating.months import DisputeState, MonthState
from pool.models.ids import UidField
from pool.models.tenants import Organization, Project


class Month(models.Model):
    """One month of one organization in its own zone; closed by a person, and fixed from then on.

    `digest` is of the file that a closed month is: the same bytes come out every time.
    """

    uid = UidField(prefix="iv")
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="months")
    first = models.DateField()
    zone = models.CharField(max_length=64)
    currency = models.CharField(max_length=3)
    state = models.CharField(max_length=12, default=MonthState.PROVISIONAL.value)
    state_since = models.DateTimeField(auto_now_add=True)
    reviewed_by = models.CharField(max_length=160, blank=True)
    closed_by = models.CharField(max_length=160, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    total_micro = models.BigIntegerField(null=True, blank=True)
    digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-first", "organization"]
        constraints = [
            models.UniqueConstraint(name="month_once", fields=["organization", "first"]),
            models.CheckConstraint(
                name="month_state_known", condition=Q(state__in=sorted(MonthState))
            ),
            models.CheckConstraint(
                name="month_closed_is_told",
                condition=~Q(state="closed")
                | Q(closed_at__isnull=False, total_micro__isnull=False) & ~Q(digest=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.organization} {self.first:%Y-%m}"


class StatementLine(models.Model):
    """One line of a closed month; `line_id` is the same for the same thing every month."""

    month = models.ForeignKey(Month, on_delete=models.PROTECT, related_name="lines")
    number = models.PositiveIntegerField()
    line_id = models.CharField(max_length=24)
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    project_slug = models.CharField(max_length=63, blank=True)
    cost_centre = models.CharField(max_length=63, blank=True)
    card_model = models.CharField(max_length=80, blank=True)
    mode = models.CharField(max_length=16, blank=True)
    price_class = models.CharField(max_length=32, blank=True)
    account = models.CharField(max_length=16)
    late = models.BooleanField(default=False)
    card_us = models.BigIntegerField()
    amount_micro = models.BigIntegerField()
    amount_cents = models.BigIntegerField()

    class Meta:
        ordering = ["month", "number"]
        constraints = [
            models.UniqueConstraint(name="statement_line_once", fields=["month", "line_id"]),
            models.UniqueConstraint(name="statement_line_numbered", fields=["month", "number"]),
        ]

    def __str__(self) -> str:
        return f"{self.line_id}: {self.amount_micro}"


class Dispute(models.Model):
    """A complaint about a line; what is granted becomes a line of the first open month."""

    uid = UidField(prefix="dp")
    month = models.ForeignKey(Month, on_delete=models.PROTECT, related_name="disputes")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    line_id = models.CharField(max_length=24)
    text = models.TextField(max_length=2000)
    asked_micro = models.BigIntegerField(null=True, blank=True)
    state = models.CharField(max_length=10, default=DisputeState.OPEN.value)
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    opened_at = models.DateTimeField(auto_now_add=True)
    answer = models.TextField(max_length=2000, blank=True)
    answered_by = models.CharField(max_length=160, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    granted_micro = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="dispute_state_known", condition=Q(state__in=sorted(DisputeState))
            ),
            models.UniqueConstraint(
                name="dispute_one_open_a_line",
                fields=["month", "line_id"],
                condition=Q(state="open"),
            ),
        ]

    def __str__(self) -> str:
        return str(self.uid)
