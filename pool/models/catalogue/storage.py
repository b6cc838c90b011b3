"""Folders on nodes that work may use, each allowed by an administrator."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.lifecycle.catalogue import Access, Backing, StorageKind
from pool.models.ids import UidField
from pool.models.tenants import Organization, Project


class Storage(models.Model):
    """One folder. `path` is where it lies on every node that has it; `{user}`, `{project}` and
    `{organization}` in it stand for who runs the work.

    At most one of organization, project and user says whose it is; none: everybody's. `source`
    is what is mounted there, for people: an NFS export, a bucket. With `create` a node makes the
    folders from the first word in braces on; everything before must be there.

    `named_for` is whom `{user}` means whoever runs the work: folders that were handed on stay
    where they are.
    """

    uid = UidField(prefix="st")
    name = models.CharField(max_length=63)
    name_folded = models.CharField(max_length=80, editable=False)
    kind = models.CharField(max_length=12)
    backing = models.CharField(max_length=8, default=Backing.HOST)
    path = models.CharField(max_length=400)
    source = models.CharField(max_length=200, blank=True)
    named_for = models.CharField(max_length=150, blank=True, default="", editable=False)
    mode = models.CharField(max_length=2, default=Access.READ)
    create = models.BooleanField(default=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, null=True, blank=True, related_name="storage"
    )
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, null=True, blank=True, related_name="storage"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="storage",
    )
    note = models.CharField(max_length=200, blank=True)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name_folded", "pk"]
        constraints = [
            models.CheckConstraint(
                name="storage_kind_known", condition=Q(kind__in=sorted(StorageKind))
            ),
            models.CheckConstraint(
                name="storage_backing_known", condition=Q(backing__in=sorted(Backing))
            ),
            models.CheckConstraint(name="storage_mode_known", condition=Q(mode__in=sorted(Access))),
            models.CheckConstraint(name="storage_path_whole", condition=Q(path__startswith="/")),
            models.CheckConstraint(
                name="storage_of_one",
                condition=Q(organization=None, project=None)
                | Q(organization=None, user=None)
                | Q(project=None, user=None),
            ),
            models.UniqueConstraint(
                name="storage_name_once",
                fields=["name_folded", "organization", "project", "user"],
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return self.name
