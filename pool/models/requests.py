"""What people ask for beyond their allowance."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper

from pool.lifecycle.leases import LeaseChange, LeaseKind
from pool.lifecycle.requests import REQUEST, RequestState
from pool.models.ids import UidField
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project


class Request(models.Model):
    """A person asks for a need in a project for a time. `need` is a Need as a mapping.

    `weights` are plain named numbers (cost and the like) that a policy may compare with a limit.
    `entitled` is what it takes from entitlement rows while it is pending.
    `revision` grows with every change, so that a decision on an older reading is refused.
    `alters` is the lease it would lengthen or resize: until the yes that stays as it is.
    `step_since` is when the step that is due became due; reminders count from it.
    `given` names what its work is to use, as `pool.services.catalogue.judging` keeps it, `image`
    an image beside the catalogue: what work under its lease gets that names nothing itself.
    """

    uid = UidField(prefix="rq")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="requests")
    requester = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="requests"
    )
    template_version = models.ForeignKey(TemplateVersion, on_delete=models.PROTECT)
    partitions = models.ManyToManyField(Partition, blank=True, related_name="requests")
    title = models.CharField(max_length=120, blank=True)
    purpose = models.TextField(max_length=4000, blank=True)
    need = models.JSONField(default=dict)
    given = models.JSONField(default=dict, db_default={})
    image = models.CharField(max_length=255, blank=True, default="", db_default="")
    copies = models.PositiveIntegerField(default=1)
    lease_kind = models.CharField(max_length=12, default=LeaseKind.ON_DEMAND)
    duration_seconds = models.PositiveIntegerField()
    starts_at = models.DateTimeField(null=True, blank=True)
    weights = models.JSONField(default=dict)
    entitled = models.JSONField(default=list)
    steps = ArrayField(models.CharField(max_length=20), default=list)
    step = models.PositiveSmallIntegerField(default=0)
    step_since = models.DateTimeField(null=True, blank=True)
    reminded = models.PositiveSmallIntegerField(default=0)
    escalated_at = models.DateTimeField(null=True, blank=True)
    alters = models.ForeignKey(
        "pool.Lease", on_delete=models.PROTECT, null=True, blank=True, related_name="changes"
    )
    alteration = models.CharField(max_length=8, default="", blank=True)
    state = models.CharField(max_length=12, default=REQUEST.first)
    revision = models.PositiveIntegerField(default=1)
    submitted_at = models.DateTimeField(null=True, blank=True)
    promised_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decision_reason = models.TextField(max_length=4000, blank=True)
    pending_decision = models.JSONField(null=True, blank=True)
    pending_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    example = models.BooleanField(default=False)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="request_state_known", condition=Q(state__in=sorted(RequestState))
            ),
            models.CheckConstraint(
                name="request_has_duration", condition=Q(duration_seconds__gt=0)
            ),
            models.CheckConstraint(name="request_has_copies", condition=Q(copies__gt=0)),
            models.CheckConstraint(
                name="request_lease_kind_known", condition=Q(lease_kind__in=sorted(LeaseKind))
            ),
            models.CheckConstraint(
                name="request_alters_a_lease",
                condition=Q(alters=None, alteration="")
                | Q(alters__isnull=False, alteration__in=sorted(LeaseChange)),
            ),
            models.CheckConstraint(
                name="request_decided_by_another",
                condition=~Q(state__in=["approved", "rejected"])
                | Q(decided_by__isnull=False) & ~Q(decided_by=models.F("requester")),
            ),
        ]
        indexes = [
            models.Index(fields=["state", "-id"], name="request_by_state"),
            models.Index(fields=["title", "id"], name="request_by_title"),
            models.Index(fields=["duration_seconds", "id"], name="request_by_duration"),
            GinIndex(OpClass(Upper("title"), name="gin_trgm_ops"), name="request_title_search"),
            models.Index(fields=["requester", "submitted_at"], name="request_by_requester"),
            models.Index(
                fields=["submitted_at", "id"],
                name="request_waiting",
                condition=models.Q(state="submitted"),
            ),
            models.Index(
                fields=["project", "submitted_at", "id"],
                name="request_waiting_there",
                condition=models.Q(state="submitted"),
            ),
            models.Index(
                fields=["project", "-id"],
                name="request_waiting_newest",
                condition=models.Q(state="submitted"),
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.uid


class RequestComment(models.Model):
    """A word between requester and approvers."""

    uid = UidField(prefix="rc")
    request = models.ForeignKey(Request, on_delete=models.PROTECT, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(max_length=4000)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.text[:60]
