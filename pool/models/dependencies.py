"""What must have happened to other work before some work may start."""

from django.db import models
from django.db.models import F, Q

from pool.models.workloads import Workload
from pool.rules.dependencies import Rule


class Dependency(models.Model):
    """`workload` waits until `on` has kept the rule; an array waits as a whole.

    `share_milli` is the share of the array's pieces that must have succeeded. With `each` the
    piece with the same index is meant, not the whole array. `met_at` and `broken_at` are both
    empty while it is open: broken means that the rule can never be kept any more.
    """

    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="after")
    on = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="before")
    rule = models.CharField(max_length=8, default=Rule.SUCCESS)
    share_milli = models.PositiveIntegerField(null=True, blank=True)
    each = models.BooleanField(default=False)
    met_at = models.DateTimeField(null=True, blank=True)
    broken_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(
                fields=["workload"],
                name="dependency_open",
                condition=Q(met_at=None, broken_at=None),
            ),
        ]
        constraints = [
            models.UniqueConstraint(name="dependency_once", fields=["workload", "on"]),
            models.CheckConstraint(name="dependency_on_another", condition=~Q(workload=F("on"))),
            models.CheckConstraint(
                name="dependency_rule_known", condition=Q(rule__in=sorted(Rule))
            ),
            models.CheckConstraint(
                name="dependency_share_of_an_array",
                condition=Q(rule="share", each=False, share_milli__gte=1, share_milli__lte=1000)
                | ~Q(rule="share") & Q(share_milli=None),
            ),
            models.CheckConstraint(
                name="dependency_met_or_broken", condition=Q(met_at=None) | Q(broken_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workload_id} after {self.rule} of {self.on_id}"
