"""Who decides for somebody who is away."""

from django.conf import settings
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import F, Q

from pool.models.ids import UidField


class Delegation(models.Model):
    """For the time of `span` the deputy may decide what `person` may, unless ended before.

    The power is read from the person's roles at the moment of each decision, so that it ends with
    them; it is never passed on, and never decides a request of the person themselves.
    """

    uid = UidField(prefix="dg")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="delegations"
    )
    deputy = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="deputations"
    )
    span = DateTimeRangeField()
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="delegation_to_another", condition=~Q(person=F("deputy"))),
            models.CheckConstraint(
                name="delegation_has_an_end",
                condition=Q(span__upper_inf=False, span__lower_inf=False, span__isempty=False),
            ),
            ExclusionConstraint(
                name="delegation_one_at_a_time",
                expressions=[("person", RangeOperators.EQUAL), ("span", RangeOperators.OVERLAPS)],
                condition=Q(ended_at=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person} by {self.deputy}"
