"""What was held, or kept idle for a reserved lease: one row an hour."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from billing.rating.intervals import HOUR_US
from pool.models.cards import Card
from pool.models.ids import UidField
from pool.models.partitions import Partition
from pool.models.placements import Hold
from pool.models.reservations import ReservedCard
from pool.models.tenants import Organization, Project
from pool.models.workloads import Attempt, Workload

HELD = "held"
KEPT_IDLE = "kept-idle"
KINDS = (HELD, KEPT_IDLE)


def _told(
    to: type[models.Model] | str, *, null: bool = False
) -> "models.ForeignKey[models.Model, models.Model]":
    """A reference that the hold already guarantees.

    The database does not check it again: that would take a lock on the row, in whatever order the
    meter comes by, and the services lock those rows in a fixed one.
    """
    return models.ForeignKey(
        to, on_delete=models.PROTECT, related_name="+", db_constraint=False, null=null
    )


class Usage(models.Model):
    """The part of one hold that lies in one UTC hour, and what it costs.

    Whose it was is copied, so that a later move of a project or card leaves the books alone.
    `reserved_us` are microseconds; over a hold's rows they sum to its span, or to the node's own
    count when the hold was `corrected`. `running` rows end where the meter last looked. A row is
    never removed: a correction can bring it to nothing, and `revision` counts its changes, so that
    a ledger can post the difference. `charges` are the lines of `amount_micro` (10⁻⁶ of the
    currency), which is None while no price is known; `billable` false means that it is not asked.

    `known_us` is for how much of that time its card was measured, `used_us` for how much of it work
    was seen running there; the ledger writes both.

    A row of kind "kept-idle" is of a card that was kept for a reserved lease, and of the part of it
    that no work of that lease held: `reserved_us` counts whole cards, so that half a card idle for
    an hour is half an hour. It has no workload and no attempt; `owner` is who asked for the lease.
    """

    uid = UidField(prefix="ug")
    kind = models.CharField(max_length=10, default=HELD)
    hold = models.ForeignKey(Hold, on_delete=models.PROTECT, related_name="usage", null=True)
    kept = models.ForeignKey(
        ReservedCard, on_delete=models.PROTECT, related_name="usage", null=True, blank=True
    )
    hour = models.DateTimeField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    reserved_us = models.BigIntegerField()
    running = models.BooleanField(default=False)
    corrected = models.BooleanField(default=False)
    billable = models.BooleanField(default=True)
    borrowed = models.BooleanField(default=False)
    organization = _told(Organization)
    project = _told(Project)
    owner = _told(settings.AUTH_USER_MODEL)
    workload = _told(Workload, null=True)
    attempt = _told(Attempt, null=True)
    cost_centre = models.CharField(max_length=63, blank=True)
    partition = models.ForeignKey(
        Partition, on_delete=models.PROTECT, related_name="+", null=True, db_constraint=False
    )
    card = models.ForeignKey(
        Card, on_delete=models.PROTECT, related_name="+", null=True, db_constraint=False
    )
    card_model = models.CharField(max_length=80, blank=True)
    mode = models.CharField(max_length=16)
    price_class = models.CharField(max_length=32)
    preemptible = models.BooleanField(default=False)
    used_us = models.BigIntegerField(default=0)
    known_us = models.BigIntegerField(default=0)
    equivalents_micro = models.PositiveIntegerField()
    memory_mib = models.PositiveIntegerField()
    compute_milli = models.PositiveIntegerField()
    cpu_milli = models.PositiveIntegerField()
    ram_mib = models.PositiveIntegerField()
    disk_mib = models.PositiveIntegerField()
    currency = models.CharField(max_length=3)
    charges = models.JSONField(default=list)
    amount_micro = models.BigIntegerField(null=True)
    revision = models.PositiveIntegerField(default=1)
    metered_at = models.DateTimeField()

    class Meta:
        ordering = ["-hour", "-pk"]
        constraints = [
            models.UniqueConstraint(name="usage_once_a_hold_and_hour", fields=["hold", "hour"]),
            models.UniqueConstraint(name="usage_once_a_kept_card", fields=["kept", "hour"]),
            models.CheckConstraint(
                name="usage_of_a_hold_or_a_kept_card",
                condition=Q(kind=HELD, hold__isnull=False, workload__isnull=False, kept=None)
                | Q(kind=KEPT_IDLE, hold=None, workload=None, kept__isnull=False),
            ),
            models.CheckConstraint(
                name="usage_within_its_hour",
                condition=Q(reserved_us__gte=0, reserved_us__lte=HOUR_US),
            ),
            models.CheckConstraint(
                name="usage_ends_after_its_start", condition=Q(ends_at__gte=F("starts_at"))
            ),
        ]
        indexes = [
            models.Index(fields=["project", "hour"], name="usage_by_project"),
            models.Index(fields=["organization", "hour"], name="usage_by_organization"),
            models.Index(fields=["workload"], name="usage_by_workload"),
            models.Index(fields=["hour"], name="usage_by_hour"),
            models.Index(fields=["metered_at"], name="usage_by_metering"),
            models.Index(fields=["card", "hour"], name="usage_by_card"),
            models.Index(fields=["hold"], name="usage_running", condition=Q(running=True)),
            models.Index(fields=["kept"], name="usage_kept_running", condition=Q(running=True)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.hold_id or self.kept_id} {self.hour:%Y-%m-%d %H}"
