"""Named needs, in versions: running work keeps the version it was made with."""

from django.db import models
from django.db.models import Q

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.lifecycle.roles import Priority, WorkClass
from pool.models.catalogue.environments import Environment
from pool.models.ids import UidField
from pool.models.tenants import Organization, Project


class Template(models.Model):
    """A scenario by name; what it asks for stands in its versions.

    Where `projects` are named only they may use it; else all of the organization, or everybody.
    """

    uid = UidField(prefix="tp")
    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=120)
    name_zh = models.CharField(max_length=120, blank=True)
    description = models.TextField(blank=True)
    description_zh = models.TextField(blank=True)
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, null=True, blank=True, related_name="templates"
    )
    projects = models.ManyToManyField(Project, blank=True, related_name="templates")
    active = models.BooleanField(default=True)
    inactive_reason = models.CharField(max_length=200, blank=True)
    rank = models.PositiveSmallIntegerField(default=100)
    example = models.BooleanField(default=False)

    class Meta:
        ordering = ["rank", "slug"]

    def __str__(self) -> str:
        return self.name


class TemplateVersion(models.Model):
    """One fixed text of a template. `need` is a Need as a mapping; times in seconds."""

    uid = UidField(prefix="tv")
    template = models.ForeignKey(Template, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, default=WorkloadKind.JOB)
    work_class = models.CharField(max_length=20, default=WorkClass.FINETUNING)
    need = models.JSONField(default=dict)
    environment = models.ForeignKey(
        Environment, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    """What work of it runs in when it names no other."""
    priority = models.CharField(max_length=12, default=Priority.NORMAL)
    preemptible = models.BooleanField(default=False)
    max_seconds = models.PositiveIntegerField(default=7 * 86400)
    default_seconds = models.PositiveIntegerField(default=3600)
    start_limit_seconds = models.PositiveIntegerField(default=300)
    grace_seconds = models.PositiveIntegerField(default=30)
    min_run_seconds = models.PositiveIntegerField(default=0)
    """So long after its start it is not chosen to give way; an order given counts all the same."""
    idle_seconds = models.PositiveIntegerField(null=True, blank=True)
    checkpoint_seconds = models.PositiveIntegerField(null=True, blank=True)
    bandwidth = models.CharField(max_length=8, default="measured")
    """light, heavy, or measured: what the finished runs of its work have shown."""
    min_profile_compute = models.PositiveSmallIntegerField(default=0)
    unlimited_modes = models.BooleanField(default=False)
    price_class = models.CharField(max_length=32, default="standard")
    approval = models.JSONField(default=dict)
    note = models.CharField(max_length=200, blank=True)
    actor_label = models.CharField(max_length=160, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["template", "-number"]
        constraints = [
            models.UniqueConstraint(name="template_version_once", fields=["template", "number"]),
            models.CheckConstraint(
                name="template_version_class_known", condition=Q(work_class__in=sorted(WorkClass))
            ),
            models.CheckConstraint(
                name="template_version_priority_known", condition=Q(priority__in=sorted(Priority))
            ),
            models.CheckConstraint(
                name="template_version_kind_known", condition=Q(kind__in=sorted(WorkloadKind))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.template} v{self.number}"
