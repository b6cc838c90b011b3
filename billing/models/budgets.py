"""Budgets: how much may be spent in a period, and what happens then."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from billing.rating.budgets import Action, Every, Measure
from pool.models.ids import UidField
from pool.models.tenants import Organization, Project


class Budget(models.Model):
    """A limit of an organization, a project, or a person inside one of them, for each period.

    `limit_micro` and `overdraft_micro` are in 10⁻⁶ of the currency, or of a card-hour. The
    overdraft counts until its day. `told_level` was told in the period that began at `told_for`;
    `acting_since` says since when its action is in force, which is taken back by itself.
    """

    uid = UidField(prefix="bg")
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="budgets")
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="budgets", null=True, blank=True
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    measure = models.CharField(max_length=12, default=Measure.MONEY.value)
    every = models.CharField(max_length=8, default=Every.MONTH.value)
    starts_on = models.DateField(null=True, blank=True)
    ends_on = models.DateField(null=True, blank=True)
    limit_micro = models.BigIntegerField()
    action = models.CharField(max_length=16, default=Action.NOTIFY.value)
    spare_endpoints = models.BooleanField(default=True)
    overdraft_micro = models.BigIntegerField(default=0)
    overdraft_until = models.DateField(null=True, blank=True)
    overdraft_reason = models.CharField(max_length=200, blank=True)
    overdraft_by = models.CharField(max_length=160, blank=True)
    told_level = models.PositiveSmallIntegerField(default=0)
    told_for = models.DateField(null=True, blank=True)
    acting_since = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["organization", "project", "user", "pk"]
        constraints = [
            models.UniqueConstraint(
                name="budget_once",
                fields=["organization", "project", "user", "measure", "every", "starts_on"],
                nulls_distinct=False,
                condition=Q(removed_at=None),
            ),
            models.CheckConstraint(
                name="budget_words_known",
                condition=Q(
                    measure__in=sorted(Measure), every__in=sorted(Every), action__in=sorted(Action)
                ),
            ),
            models.CheckConstraint(
                name="budget_numbers_sane", condition=Q(limit_micro__gte=0, overdraft_micro__gte=0)
            ),
            models.CheckConstraint(
                name="budget_custom_has_days",
                condition=Q(every="custom", starts_on__isnull=False, ends_on__gte=F("starts_on"))
                | ~Q(every="custom") & Q(starts_on=None, ends_on=None),
            ),
        ]

    def __str__(self) -> str:
        return str(self.uid)
