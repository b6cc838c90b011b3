"""What-ifs: a trace, what is changed, how far the replay is, and what it showed."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.lifecycle.studies import STUDY, Share, StudyKind, StudyState
from pool.models.ids import UidField
from pool.models.tenants import Organization
from pool.models.whatif.traces import Trace


class Study(models.Model):
    """`changes` is the scenario as it was judged; `baseline` and `result` are figures of a replay.

    For the kind *cards*, `target_s` is the 95 % wait to keep and `steps` what was tried, in order.
    `digest` seals trace, pool and changes: the same digest gives the same result. `deadline` is
    renewed with every word of the worker; `tries` tells its lives apart.
    """

    uid = UidField(prefix="wi")
    name = models.CharField(max_length=80)
    comment = models.CharField(max_length=400, blank=True)
    kind = models.CharField(max_length=8, default=StudyKind.SCENARIO)
    trace = models.ForeignKey(Trace, on_delete=models.PROTECT, related_name="studies")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="studies"
    )
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    share = models.CharField(max_length=12, default=Share.PRIVATE)
    changes = models.JSONField(default=dict)
    target_s = models.PositiveIntegerField(null=True, blank=True)
    state = models.CharField(max_length=10, default=STUDY.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_reason = models.CharField(max_length=200, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    progress_milli = models.PositiveSmallIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0)
    baseline = models.JSONField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)
    steps = models.JSONField(default=list)
    digest = models.CharField(max_length=64, blank=True)
    took_s = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(
                fields=["id"],
                name="study_to_do",
                condition=Q(state__in=["waiting", "running"]),
            ),
            models.Index(fields=["owner", "-id"], name="study_by_owner"),
        ]
        constraints = [
            models.CheckConstraint(
                name="study_state_known", condition=Q(state__in=sorted(StudyState))
            ),
            models.CheckConstraint(
                name="study_kind_known", condition=Q(kind__in=sorted(StudyKind))
            ),
            models.CheckConstraint(name="study_share_known", condition=Q(share__in=sorted(Share))),
            models.CheckConstraint(
                name="study_running_has_deadline",
                condition=~Q(state="running") | Q(deadline__isnull=False),
            ),
            models.CheckConstraint(
                name="study_done_has_a_result",
                condition=~Q(state="done") | Q(baseline__isnull=False, result__isnull=False),
            ),
            models.CheckConstraint(
                name="study_of_cards_has_a_target",
                condition=Q(kind="scenario", target_s=None)
                | Q(kind="cards", target_s__isnull=False),
            ),
            models.CheckConstraint(
                name="study_shared_in_its_organization",
                condition=~Q(share="organization") | Q(organization__isnull=False),
            ),
            models.CheckConstraint(name="study_has_name", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name
