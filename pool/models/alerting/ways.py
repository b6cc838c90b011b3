"""By which ways alerts leave the house, which of them take which way, and what became of each."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from pool.models.alerts import Alert
from pool.models.ids import UidField
from pool.models.tenants import Project
from pool.rules.alerting.terms import ChannelKind, Family, Severity, Word


class AlertChannel(models.Model):
    """One way out. `target` is what may be shown of it; address and key lie sealed in `sealed`."""

    uid = UidField(prefix="ac")
    name = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=12)
    target = models.CharField(max_length=1000, blank=True)
    sealed = models.TextField(blank=True)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    tested_at = models.DateTimeField(null=True, blank=True)
    test_error = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                name="alert_channel_kind_known", condition=Q(kind__in=sorted(ChannelKind))
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AlertRoute(models.Model):
    """Alerts of a family and at least a severity, of one team or of all, by one channel.

    Outside of its hours (minutes of the day in `zone`, weekdays from Monday 0, closed dates) words
    about anything but hardware wait.
    """

    uid = UidField(prefix="at")
    channel = models.ForeignKey(AlertChannel, on_delete=models.CASCADE, related_name="routes")
    family = models.CharField(max_length=12, blank=True)
    severity = models.CharField(max_length=12, blank=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, blank=True)
    days = ArrayField(models.PositiveSmallIntegerField(), default=list)
    start_minute = models.PositiveSmallIntegerField(default=0)
    end_minute = models.PositiveSmallIntegerField(default=1440)
    zone = models.CharField(max_length=64, default="UTC")
    closed_dates = ArrayField(models.DateField(), default=list, blank=True)
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="alert_route_words_known",
                condition=Q(family__in=["", *sorted(Family)], severity__in=["", *sorted(Severity)]),
            ),
            models.CheckConstraint(
                name="alert_route_opens",
                condition=Q(start_minute__lt=F("end_minute"), end_minute__lte=1440),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.family or 'any'} to {self.channel}"


class AlertDelivery(models.Model):
    """One word of one alert on its way: sent, given up (a dead letter), dropped, or due.

    `waits_for` says why it is not due at once. `claimed_at` is when a sender took it; one that died
    leaves it to the next after a while.
    """

    uid = UidField(prefix="ad")
    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey(AlertChannel, on_delete=models.CASCADE, related_name="deliveries")
    route = models.ForeignKey(AlertRoute, on_delete=models.SET_NULL, null=True, blank=True)
    word = models.CharField(max_length=10)
    made_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField()
    waits_for = models.CharField(max_length=40, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    given_up_at = models.DateTimeField(null=True, blank=True)
    dropped_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                name="alert_delivery_once", fields=["alert", "channel", "word"]
            ),
            models.CheckConstraint(
                name="alert_delivery_word_known", condition=Q(word__in=sorted(Word))
            ),
            models.CheckConstraint(
                name="alert_delivery_ends_one_way",
                condition=Q(sent_at=None, given_up_at=None)
                | Q(sent_at=None, dropped_at=None)
                | Q(given_up_at=None, dropped_at=None),
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=Q(sent_at=None, given_up_at=None, dropped_at=None),
                name="alert_delivery_due",
            )
        ]

    def __str__(self) -> str:
        return f"{self.alert} by {self.channel}"
