"""Work that is submitted again and again at the times of a cron line, and what became of each."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from nodeagent.protocol.vocabulary import Silence
from pool.lifecycle.roles import Priority, RankDeath
from pool.lifecycle.schedules import SCHEDULE, Outcome, ScheduleState
from pool.models.ids import UidField
from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.rules.schedules import Missed, Overlap


class Schedule(models.Model):
    """The words of a submission with the times at which it is made, in the organization's zone.

    `need` is what differs from the template. `given` names storage, secrets (never a value) and an
    environment, as `pool.services.catalogue.judging` keeps it. `next_at` is the next time that was
    not handled yet; it stands only while the schedule is active. One request covers every run.
    """

    uid = UidField(prefix="sc")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="schedules")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="schedules"
    )
    name = models.CharField(max_length=63)
    template_version = models.ForeignKey(TemplateVersion, on_delete=models.PROTECT)
    need = models.JSONField(default=dict)
    partitions = models.ManyToManyField(Partition, blank=True, related_name="schedules")
    command = ArrayField(models.TextField(), default=list)
    env = models.JSONField(default=dict)
    files = models.JSONField(default=dict)
    image = models.CharField(max_length=255, blank=True)
    given = models.JSONField(default=dict)
    expected_seconds = models.PositiveIntegerField()
    priority = models.CharField(max_length=12, default=Priority.NORMAL)
    silence = models.CharField(max_length=8, default=Silence.KEEP)
    on_rank_death = models.CharField(max_length=8, default=RankDeath.FAIL)
    rendezvous_seconds = models.PositiveIntegerField(default=600)
    runs = models.PositiveSmallIntegerField(default=0)
    comment = models.TextField(max_length=4000, blank=True)
    array_spec = models.TextField(blank=True)
    array_throttle = models.PositiveIntegerField(null=True, blank=True)
    cron = models.CharField(max_length=120)
    overlap = models.CharField(max_length=8, default=Overlap.SKIP)
    missed = models.CharField(max_length=8, default=Missed.SKIP)
    request = models.ForeignKey(
        Request, on_delete=models.PROTECT, related_name="schedules", null=True, blank=True
    )
    state = models.CharField(max_length=8, default=SCHEDULE.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_reason = models.CharField(max_length=200, blank=True)
    next_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    example = models.BooleanField(default=False)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["next_at"], name="schedule_due", condition=Q(state="active")),
            models.Index(fields=["project", "-id"], name="schedule_by_project"),
        ]
        constraints = [
            models.CheckConstraint(
                name="schedule_state_known", condition=Q(state__in=sorted(ScheduleState))
            ),
            models.CheckConstraint(
                name="schedule_rank_death_known", condition=Q(on_rank_death__in=sorted(RankDeath))
            ),
            models.CheckConstraint(
                name="schedule_overlap_known", condition=Q(overlap__in=sorted(Overlap))
            ),
            models.CheckConstraint(
                name="schedule_missed_known", condition=Q(missed__in=sorted(Missed))
            ),
            models.CheckConstraint(
                name="schedule_next_while_active",
                condition=Q(state="active", next_at__isnull=False)
                | ~Q(state="active") & Q(next_at=None),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ScheduleRun(models.Model):
    """One time of a schedule: handled once, whoever sweeps; the work it made, or why none."""

    schedule = models.ForeignKey(Schedule, on_delete=models.PROTECT, related_name="history")
    due_at = models.DateTimeField()
    handled_at = models.DateTimeField(auto_now_add=True)
    outcome = models.CharField(max_length=8)
    why = models.CharField(max_length=400, blank=True)
    workload = models.OneToOneField(
        Workload, on_delete=models.PROTECT, related_name="schedule_run", null=True, blank=True
    )

    class Meta:
        ordering = ["-due_at", "-pk"]
        constraints = [
            models.UniqueConstraint(name="schedule_run_once", fields=["schedule", "due_at"]),
            models.CheckConstraint(
                name="schedule_run_outcome_known", condition=Q(outcome__in=sorted(Outcome))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.schedule_id} at {self.due_at:%Y-%m-%d %H:%M}: {self.outcome}"
