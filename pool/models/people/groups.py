"""Groups of a directory, and the roles that they bring."""

from django.db import models
from django.db.models import Q

from pool.models.ids import UidField
from pool.models.people.invitations import IN_ORGANIZATION, IN_PROJECT
from pool.models.tenants import Organization, Project

SOURCES = ("ldap", "oidc")


class GroupRole(models.Model):
    """Whoever a directory lists in `group` holds `role` in one place, and nobody longer than that.

    `group` is the group's name as the directory says it: an LDAP group's cn or whole DN, or a value
    of the groups claim of single sign-on.
    """

    uid = UidField(prefix="gr")
    source = models.CharField(max_length=8, choices=[(one, one) for one in SOURCES])
    group = models.CharField(max_length=255)
    role = models.CharField(max_length=20)
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, null=True, blank=True, related_name="group_roles"
    )
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, null=True, blank=True, related_name="group_roles"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(name="group_role_source_known", condition=Q(source__in=SOURCES)),
            models.CheckConstraint(name="group_role_has_group", condition=~Q(group="")),
            models.CheckConstraint(
                name="group_role_has_its_place",
                condition=Q(role="platform_admin", organization=None, project=None)
                | Q(role__in=IN_ORGANIZATION, organization__isnull=False, project=None)
                | Q(role__in=IN_PROJECT, organization=None, project__isnull=False),
            ),
            models.UniqueConstraint(
                name="group_role_once",
                fields=["source", "group", "role", "organization", "project"],
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.role}"
