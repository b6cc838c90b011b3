"""Jobs, notebooks, replicas and external holders, with their attempts."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Case, Q, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from nodeagent.protocol.vocabulary import ExitReason, Silence, WorkloadKind
from pool.lifecycle.roles import Priority, RankDeath
from pool.lifecycle.workloads import ATTEMPT, WORKLOAD, AttemptState, WorkloadState
from pool.models.catalogue.environments import Environment
from pool.models.ids import UidField
from pool.models.leases import Lease
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project

EXIT_REASONS = sorted(ExitReason)
ARRAY_STATES = (
    *("awaiting_approval", "active", "on_hold"),
    *("succeeded", "failed", "cancelled", "stopped", "dependency_failed"),
)
"""States of an array as a whole: its pieces are queued, placed and run."""

CARVING = "carving"
"""The reason of work whose card is being cut: it is as good as started."""

NO_TURN = "array"
"""The reason of pieces whose array lets only so many run at a time."""

UNPLACED = 2**30
"""The place of work that no round has looked at yet: behind all that has one."""

OUT_OF_TURN = UNPLACED + 1
"""The place of pieces whose turn has not come: behind all that competes."""

_REASON = KeyTextTransform("reason", "waits")
_POSITION = Cast(KeyTextTransform("position", "waits"), models.IntegerField())


class Workload(models.Model):
    """Something a person wants to run. `need` is a Need as a mapping; times in seconds.

    `asked_micro` is the least card equivalents that could meet it, in millionths, when submitted.
    Why it waits stands in `waits` (the plan's own words); the database itself keeps the word of
    the reason and the place in the queue beside it, `waits_for` and `place`, so that the queue is
    read in its order and counted from an index. `entitlement` names what lets it start: an
    allowance, a lease, or nothing yet.

    An array is a row with `array_size`; its pieces are rows with `parent` and `array_index`. They
    keep command, variables and files with their array. `array_spec` names the indices, for example
    "0-9,20"; at most `array_throttle` pieces hold something at a time. `hold_strict` says that
    somebody who leads put it on hold, so that its owner may not release it.
    """

    uid = UidField(prefix="wl")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="workloads")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="workloads"
    )
    name = models.CharField(max_length=63)
    name_folded = models.CharField(max_length=80, editable=False)
    comment = models.TextField(max_length=4000, blank=True)
    kind = models.CharField(max_length=12, default=WorkloadKind.JOB)
    template_version = models.ForeignKey(TemplateVersion, on_delete=models.PROTECT)
    request = models.ForeignKey(
        Request, on_delete=models.PROTECT, related_name="workloads", null=True, blank=True
    )
    lease = models.ForeignKey(
        Lease, on_delete=models.PROTECT, related_name="workloads", null=True, blank=True
    )
    entitlement = models.CharField(max_length=12, default="allowance")
    # Every index of pieces begins with it: one of its own would only draw reads to itself.
    parent = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        related_name="children",
        null=True,
        blank=True,
        db_index=False,
    )
    array_index = models.PositiveIntegerField(null=True, blank=True)
    array_size = models.PositiveIntegerField(null=True, blank=True)
    array_spec = models.TextField(blank=True)
    array_throttle = models.PositiveIntegerField(null=True, blank=True)
    need = models.JSONField(default=dict)
    asked_micro = models.PositiveBigIntegerField(default=0)
    partitions = models.ManyToManyField(Partition, blank=True, related_name="workloads")
    command = ArrayField(models.TextField(), default=list)
    env = models.JSONField(default=dict)
    files = models.JSONField(default=dict)
    runner = models.CharField(max_length=16, default="process")
    image = models.CharField(max_length=400, blank=True)
    environment = models.ForeignKey(
        Environment, on_delete=models.PROTECT, related_name="workloads", null=True, blank=True
    )
    cpu_milli = models.PositiveIntegerField(default=0)
    ram_mib = models.PositiveIntegerField(default=0)
    disk_mib = models.PositiveIntegerField(default=0)
    expected_seconds = models.PositiveIntegerField()
    priority = models.CharField(max_length=12, default=Priority.NORMAL)
    preemptible = models.BooleanField(default=False)
    silence = models.CharField(max_length=8, default=Silence.KEEP)
    home = models.CharField(max_length=120, default="", blank=True)
    on_rank_death = models.CharField(max_length=8, default=RankDeath.FAIL)
    rendezvous_seconds = models.PositiveIntegerField(default=600)
    grace_seconds = models.PositiveIntegerField(default=30)
    runs_asked = models.PositiveSmallIntegerField(default=0)
    runs_left = models.PositiveSmallIntegerField(default=0)
    starts_left = models.PositiveSmallIntegerField(default=3)
    failures = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=20, default=WORKLOAD.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_before = models.CharField(max_length=20, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    stop_reason = models.CharField(max_length=16, blank=True)
    waits = models.JSONField(null=True, blank=True)
    waits_for = models.GeneratedField(
        expression=Coalesce(_REASON, Value(""), output_field=models.TextField()),
        output_field=models.TextField(),
        db_persist=True,
    )
    place = models.GeneratedField(
        expression=Case(
            When(waits__reason=CARVING, then=Value(0)),
            When(waits__reason=NO_TURN, then=Value(OUT_OF_TURN)),
            default=Coalesce(_POSITION, Value(UNPLACED)),
        ),
        output_field=models.IntegerField(),
        db_persist=True,
    )
    attempts_made = models.PositiveIntegerField(default=0)
    exit_code = models.IntegerField(null=True, blank=True)
    exit_reason = models.CharField(max_length=16, blank=True)
    message = models.CharField(max_length=400, blank=True)
    hold_reason = models.CharField(max_length=200, blank=True)
    hold_by = models.CharField(max_length=160, blank=True)
    hold_strict = models.BooleanField(default=False)
    submitted_at = models.DateTimeField(auto_now_add=True)
    queued_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    example = models.BooleanField(default=False)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="workload_state_known", condition=Q(state__in=sorted(WorkloadState))
            ),
            models.CheckConstraint(
                name="workload_kind_known", condition=Q(kind__in=sorted(WorkloadKind))
            ),
            models.CheckConstraint(
                name="workload_priority_known", condition=Q(priority__in=sorted(Priority))
            ),
            models.CheckConstraint(
                name="workload_silence_known", condition=Q(silence__in=sorted(Silence))
            ),
            models.CheckConstraint(
                name="workload_rank_death_known", condition=Q(on_rank_death__in=sorted(RankDeath))
            ),
            models.CheckConstraint(
                name="workload_exit_reason_known",
                condition=Q(exit_reason__in=["", *EXIT_REASONS]),
            ),
            models.CheckConstraint(
                name="workload_stop_reason_known",
                condition=Q(stop_reason__in=["", *EXIT_REASONS]),
            ),
            models.CheckConstraint(name="workload_has_name", condition=~Q(name="")),
            models.CheckConstraint(
                name="workload_entitlement_known",
                condition=Q(entitlement__in=["allowance", "lease", "pending"]),
            ),
            models.CheckConstraint(
                name="workload_passing_state_has_deadline",
                condition=~Q(
                    state__in=["placed", "starting", "preempting", "stopping", "unreachable"]
                )
                | Q(deadline__isnull=False),
            ),
            models.CheckConstraint(
                name="workload_array_never_placed",
                condition=Q(array_size=None) & ~Q(state="active")
                | Q(array_size__gte=1, parent=None) & Q(state__in=ARRAY_STATES),
            ),
            models.CheckConstraint(
                name="workload_piece_has_index",
                condition=Q(parent=None, array_index=None)
                | Q(parent__isnull=False, array_index__isnull=False),
            ),
            models.CheckConstraint(
                name="workload_throttle_of_an_array",
                condition=Q(array_throttle=None) | Q(array_throttle__gte=1, array_size__gte=1),
            ),
            models.UniqueConstraint(name="workload_piece_once", fields=["parent", "array_index"]),
        ]
        indexes = [
            models.Index(fields=["state", "id"], name="workload_by_state"),
            models.Index(
                fields=["place", "id"], name="workload_queue", condition=Q(state="queued")
            ),
            models.Index(
                fields=["project", "place", "id"],
                name="workload_queue_of_project",
                condition=Q(state="queued"),
            ),
            models.Index(
                fields=["waits_for", "project"],
                name="workload_queue_reasons",
                condition=Q(state="queued"),
            ),
            models.Index(
                fields=["parent", "state", "array_index"],
                name="workload_pieces",
                condition=Q(parent__isnull=False),
            ),
            models.Index(
                fields=["parent", "waits_for"],
                include=["id"],
                name="workload_pieces_told",
                condition=Q(parent__isnull=False, state="queued"),
            ),
            models.Index(
                fields=["parent"],
                name="workload_pieces_later",
                condition=Q(parent__isnull=False, state="queued", not_before__isnull=False),
            ),
            models.Index(
                fields=["id"],
                name="workload_queue_tops",
                condition=Q(parent__isnull=True, state="queued"),
            ),
            models.Index(fields=["project", "-id"], name="workload_by_project"),
            models.Index(
                fields=["project", "-id"], name="workload_tops", condition=Q(parent__isnull=True)
            ),
            models.Index(fields=["owner", "-id"], name="workload_by_owner"),
            models.Index(fields=["name_folded", "id"], name="workload_by_name"),
            models.Index(
                fields=["started_at"],
                name="workload_by_start",
                condition=Q(started_at__isnull=False),
            ),
            GinIndex(
                fields=["name_folded"], opclasses=["gin_trgm_ops"], name="workload_name_search"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Attempt(models.Model):
    """One run of a workload; what the node reported of it. Exit code after a signal is minus it.

    `draining` takes it out of routing: it was told to leave and gets no new requests.
    `clean_at` is when the node reported its processes gone and its slices clean; an attempt that
    the books ended without it (a dead or fenced node) is stopped there when the node returns.
    `unclean` says why it is not clean yet though it is over; `removed` lists what its node found of
    it after its end and took away.
    One that runs on `size` nodes has a row for each of its ranks; `node` is that of rank 0, and
    `master_port` the port on it where the ranks meet, once it has chosen one.
    """

    uid = UidField(prefix="at")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=8, default=ATTEMPT.first)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="attempts")
    size = models.PositiveSmallIntegerField(default=1)
    master_port = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    exit_reason = models.CharField(max_length=16, blank=True)
    message = models.CharField(max_length=400, blank=True)
    stop_asked_at = models.DateTimeField(null=True, blank=True)
    log_bytes = models.BigIntegerField(default=0)
    peak_memory_mib = models.PositiveIntegerField(null=True, blank=True)
    checkpoint_step = models.BigIntegerField(null=True, blank=True)
    checkpoint_at = models.DateTimeField(null=True, blank=True)
    checkpoint_path = models.CharField(max_length=400, blank=True)
    checkpoint_warned_at = models.DateTimeField(null=True, blank=True)
    overran_at = models.DateTimeField(null=True, blank=True)
    draining = models.BooleanField(default=False)
    billable = models.BooleanField(default=True)
    clean_at = models.DateTimeField(null=True, blank=True)
    unclean = models.CharField(max_length=400, blank=True, default="", db_default="")
    removed = models.JSONField(default=list, blank=True, db_default=[])

    class Meta:
        ordering = ["workload", "number"]
        indexes = [
            models.Index(fields=["node"], name="attempt_open_on_node", condition=Q(state="open")),
            models.Index(
                fields=["node"],
                name="attempt_unsettled_on_node",
                condition=Q(state="ended", clean_at=None),
            ),
            models.Index(
                fields=["ended_at"], name="attempt_gave_way", condition=Q(exit_reason="preempted")
            ),
        ]
        constraints = [
            models.UniqueConstraint(name="attempt_number_once", fields=["workload", "number"]),
            models.UniqueConstraint(
                name="attempt_one_open_per_workload",
                fields=["workload"],
                condition=Q(state="open"),
            ),
            models.CheckConstraint(
                name="attempt_state_known", condition=Q(state__in=sorted(AttemptState))
            ),
            models.CheckConstraint(
                name="attempt_exit_reason_known",
                condition=Q(exit_reason__in=["", *EXIT_REASONS]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workload_id}#{self.number}"
