"""Organizations, projects, who belongs to them, and who trusts whom."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.lifecycle.roles import Role
from pool.models.ids import UidField
from pool.rules.workloads import LARGEST_MOST_LIVE, MOST_LIVE


class TrustGroup(models.Model):
    """Projects that may share one card without hardware isolation: one's own, or an admin's."""

    uid = UidField(prefix="tg")
    name = models.CharField(max_length=80, unique=True)

    def __str__(self) -> str:
        return self.name


class Organization(models.Model):
    """A company or department; its zone and currency rule its bills."""

    uid = UidField(prefix="org")
    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=120)
    zone = models.CharField(max_length=64, default="UTC")
    currency = models.CharField(max_length=3, default="EUR")
    example = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(name="organization_has_name", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name


class Project(models.Model):
    """A team inside an organization; `uid_base` starts its range of Unix accounts.

    `queue_held` keeps what waits where it waits: the project may submit, nothing of it starts.
    `most_live` is how many live workloads each of its members may have. An archived project
    starts nothing any more; `closing_since` is set while it winds down towards that, or towards the
    move to another organization (`moving_to`).
    """

    uid = UidField(prefix="pr")
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="projects"
    )
    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=120)
    cost_centre = models.CharField(max_length=63, blank=True)
    trust_group = models.ForeignKey(TrustGroup, on_delete=models.PROTECT, related_name="projects")
    suspended = models.BooleanField(default=False)
    suspended_reason = models.CharField(max_length=200, blank=True)
    queue_held = models.BooleanField(default=False)
    queue_held_reason = models.CharField(max_length=200, blank=True)
    most_live = models.PositiveIntegerField(default=MOST_LIVE)
    uid_base = models.PositiveIntegerField(default=200000)
    example = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    closing_since = models.DateTimeField(null=True, blank=True)
    moving_to = models.ForeignKey(
        Organization, on_delete=models.PROTECT, null=True, blank=True, related_name="arriving"
    )

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(name="project_has_name", condition=~Q(name="")),
            models.CheckConstraint(
                name="project_moves_while_closing",
                condition=Q(moving_to=None)
                | Q(closing_since__isnull=False) & ~Q(moving_to=models.F("organization")),
            ),
            models.CheckConstraint(
                name="project_archived_is_closed",
                condition=Q(archived_at=None) | Q(closing_since=None, suspended=True),
            ),
            models.CheckConstraint(
                name="project_most_live_sane",
                condition=Q(most_live__gte=1, most_live__lte=LARGEST_MOST_LIVE),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """One role of one user: on the platform, in an organization, or in a project.

    `source` names the directory that brought it (see GroupRole); empty for a role given by hand.
    """

    uid = UidField(prefix="mb")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships"
    )
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, null=True, blank=True, related_name="memberships"
    )
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, null=True, blank=True, related_name="memberships"
    )
    role = models.CharField(max_length=20, choices=[(r.value, r.value) for r in Role])
    source = models.CharField(max_length=8, default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="membership_role_known", condition=Q(role__in=sorted(Role))
            ),
            models.CheckConstraint(
                name="membership_role_has_its_place",
                condition=Q(role="platform_admin", organization=None, project=None)
                | Q(role__in=["org_admin", "billing_reader"], project=None)
                & Q(organization__isnull=False)
                | Q(role__in=["lead", "member", "viewer"], organization=None)
                & Q(project__isnull=False),
            ),
            models.CheckConstraint(
                name="membership_source_known", condition=Q(source__in=["", "ldap", "oidc"])
            ),
            models.UniqueConstraint(
                name="membership_once",
                fields=["user", "organization", "project", "role"],
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.role}"
