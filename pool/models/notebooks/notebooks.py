"""What is known of each notebook: how far it is, what moves in it, how it was judged."""

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from nodeagent.protocol.notebooks import Stage
from pool.lifecycle.idleness import KEEPS, IdleAction, Verdict
from pool.models.ids import UidField
from pool.models.partitions import Partition
from pool.models.templates import Template
from pool.models.tenants import Project
from pool.models.workloads import Attempt, Workload


class Notebook(models.Model):
    """One row for each workload of that kind, about its newest run.

    `facts` is what the node told last, taken in at `facts_at`. `quiet_s` counts how long nothing
    has moved, over known time alone; none is counted before `kept_until`. `judged_boottime` and
    `judged_shift` say on which steady clock the last judgement stood. `warned` is the last warning
    given, in minutes before the end. `viewed_at` is when somebody else last looked at its files.
    `continues` is the notebook that went on in this one, with the same files and another size.
    """

    workload = models.OneToOneField(Workload, on_delete=models.CASCADE, related_name="notebook")
    continues = models.ForeignKey(
        Workload, on_delete=models.SET_NULL, related_name="continued_by", null=True, blank=True
    )
    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="+", null=True, blank=True
    )
    stage = models.CharField(max_length=12, blank=True)
    words = models.CharField(max_length=200, blank=True)
    facts = models.JSONField(null=True, blank=True)
    facts_at = models.DateTimeField(null=True, blank=True)
    ready_at = models.DateTimeField(null=True, blank=True)
    last_input_at = models.DateTimeField(null=True, blank=True)
    viewed_at = models.DateTimeField(null=True, blank=True)
    verdict = models.CharField(max_length=8, blank=True)
    verdict_at = models.DateTimeField(null=True, blank=True)
    evidence = models.JSONField(default=list, blank=True)
    quiet_s = models.FloatField(default=0)
    limit_s = models.PositiveIntegerField(null=True, blank=True)
    judged_boot = models.CharField(max_length=40, blank=True)
    judged_boottime = models.FloatField(null=True, blank=True)
    judged_shift = models.FloatField(default=0)
    warned = models.PositiveSmallIntegerField(null=True, blank=True)
    keeps_used = models.PositiveSmallIntegerField(default=0)
    kept_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="notebook_verdict_known", condition=Q(verdict__in=["", *sorted(Verdict)])
            ),
            models.CheckConstraint(
                name="notebook_stage_known", condition=Q(stage__in=["", *sorted(Stage)])
            ),
            models.CheckConstraint(name="notebook_quiet_counts_up", condition=Q(quiet_s__gte=0)),
        ]

    def __str__(self) -> str:
        return f"notebook {self.workload_id}"


class IdleRule(models.Model):
    """How long notebooks may be left alone, for all (no scope) or for some. Seconds and minutes.

    `busy_counts` says whether a kernel that executes is always activity, `cpu_counts` whether
    processors, disk and network are. From `quiet_from` to `quiet_until` (minutes of its owner's
    day) nothing is sent outside. Of several rules that fit, the narrowest counts.
    """

    uid = UidField(prefix="ir")
    template = models.ForeignKey(
        Template, on_delete=models.CASCADE, related_name="+", null=True, blank=True
    )
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="+", null=True, blank=True
    )
    partition = models.ForeignKey(
        Partition, on_delete=models.CASCADE, related_name="+", null=True, blank=True
    )
    idle_seconds = models.PositiveIntegerField(validators=[MinValueValidator(300)])
    warn_minutes = ArrayField(models.PositiveSmallIntegerField(), default=list)
    keeps = models.PositiveSmallIntegerField(default=KEEPS)
    action = models.CharField(max_length=8, default=IdleAction.RECLAIM)
    busy_counts = models.BooleanField(default=True)
    cpu_counts = models.BooleanField(default=True)
    quiet_from = models.PositiveSmallIntegerField(null=True, blank=True)
    quiet_until = models.PositiveSmallIntegerField(null=True, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                name="idle_rule_one_a_scope",
                fields=["template", "project", "partition"],
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                name="idle_rule_action_known", condition=Q(action__in=sorted(IdleAction))
            ),
            models.CheckConstraint(
                name="idle_rule_five_minutes_at_least", condition=Q(idle_seconds__gte=300)
            ),
            models.CheckConstraint(
                name="idle_rule_quiet_from_and_until",
                condition=Q(quiet_from__isnull=True, quiet_until__isnull=True)
                | Q(quiet_from__lt=1440, quiet_until__lt=1440),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.idle_seconds} s"
