"""Images and folders of programs that work may run in, and the registries images may come from."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.lifecycle.catalogue import EnvironmentKind, InstructionSet
from pool.models.ids import UidField
from pool.models.tenants import Organization


class Environment(models.Model):
    """One entry. `reference` is an image's name without its digest, or a folder's path on nodes.

    `tested` lists card models it is known to work on; an organization keeps it to itself, none
    shows it to everybody. Deprecated ones still run, with a warning.
    """

    uid = UidField(prefix="en")
    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=8, default=EnvironmentKind.IMAGE)
    reference = models.CharField(max_length=255)
    digest = models.CharField(max_length=71, blank=True)
    instruction_set = models.CharField(max_length=8, default=InstructionSet.CUDA)
    min_driver = models.CharField(max_length=40, blank=True)
    tested = models.JSONField(default=list)
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, null=True, blank=True, related_name="environments"
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="environments",
    )
    note = models.CharField(max_length=200, blank=True)
    deprecated_at = models.DateTimeField(null=True, blank=True)
    deprecated_note = models.CharField(max_length=200, blank=True)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(
                name="environment_kind_known", condition=Q(kind__in=sorted(EnvironmentKind))
            ),
            models.CheckConstraint(
                name="environment_instructions_known",
                condition=Q(instruction_set__in=sorted(InstructionSet)),
            ),
            models.CheckConstraint(
                name="environment_folder_whole",
                condition=Q(kind="image") | Q(reference__startswith="/", digest=""),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Registry(models.Model):
    """A host, with a path or without, that images may be taken from; without any: none may."""

    uid = UidField(prefix="rg")
    prefix = models.CharField(max_length=200, unique=True)
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["prefix"]
        verbose_name_plural = "registries"

    def __str__(self) -> str:
        return self.prefix
