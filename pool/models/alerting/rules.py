"""Rules that raise alerts, and silences, as rows that people edit."""

from django.db import models
from django.db.models import Q

from pool.models.ids import UidField
from pool.models.tenants import Project
from pool.rules.alerting.metrics import METRICS
from pool.rules.alerting.terms import Aggregate, Family, Scope, Severity, Side


class AlertRule(models.Model):
    """One number of each thing of a scope against a threshold. Times in seconds.

    It fires when the number is bad for `for_seconds`, and ends when it is well (past
    `clear_threshold`, None: back past the threshold) for `clear_seconds`. `held_only` judges only
    cards that work has held for the whole window. Built-in rules can be changed, not removed.
    """

    uid = UidField(prefix="ar")
    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=120)
    family = models.CharField(max_length=12)
    severity = models.CharField(max_length=12)
    metric = models.CharField(max_length=24)
    scope = models.CharField(max_length=12)
    aggregate = models.CharField(max_length=12)
    window_seconds = models.PositiveIntegerField()
    side = models.CharField(max_length=6)
    threshold = models.FloatField()
    clear_threshold = models.FloatField(null=True, blank=True)
    for_seconds = models.PositiveIntegerField(default=0)
    clear_seconds = models.PositiveIntegerField(default=0)
    held_only = models.BooleanField(default=False)
    enabled = models.BooleanField(default=True)
    built_in = models.BooleanField(default=False)
    looked_at = models.DateTimeField(null=True, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["family", "name"]
        constraints = [
            models.CheckConstraint(
                name="alert_rule_words_known",
                condition=Q(
                    family__in=sorted(Family),
                    severity__in=sorted(Severity),
                    metric__in=sorted(METRICS),
                    scope__in=sorted(Scope),
                    aggregate__in=sorted(Aggregate),
                    side__in=sorted(Side),
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AlertSilence(models.Model):
    """Until `ends_at` no word of matching alerts leaves the house; they are shown all the same.

    Empty columns match everything; at least one is not empty.
    """

    uid = UidField(prefix="as")
    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, null=True, blank=True)
    subject = models.CharField(max_length=80, blank=True)
    family = models.CharField(max_length=12, blank=True)
    severity = models.CharField(max_length=12, blank=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, blank=True)
    starts_at = models.DateTimeField(auto_now_add=True)
    ends_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=400)
    by_label = models.CharField(max_length=160)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="alert_silence_says_why", condition=~Q(reason="")),
            models.CheckConstraint(
                name="alert_silence_means_something",
                condition=Q(rule__isnull=False)
                | Q(project__isnull=False)
                | ~Q(subject="", family="", severity=""),
            ),
        ]

    def __str__(self) -> str:
        return self.reason
