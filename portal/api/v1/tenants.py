"""Organizations and projects."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.models import Organization, Project
from pool.rules.workloads import LARGEST_MOST_LIVE
from pool.selectors.people.living import project_living
from pool.selectors.tenants import organization_list, project_list
from pool.services.people.closing import project_archive, project_move, project_reopen
from pool.services.people.places import (
    organization_archive,
    organization_change,
    organization_reopen,
    project_change,
)
from pool.services.queueing.steer import project_queue_hold, project_queue_release
from pool.services.tenants import (
    organization_create,
    project_create,
    project_resume,
    project_suspend,
)
from portal.access.currencies import currency_fixed
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given, Nothing
from portal.api.v1.references import organization_named
from portal.api.v1.yielding.critical import TAKES as CRITICAL_TAKES
from portal.api.v1.yielding.critical import CriticalVerbs
from portal.api.v1.yielding.shapes import GrantOut


class OrganizationOut(serializers.ModelSerializer[Organization]):
    """A company or department."""

    class Meta:
        model = Organization
        fields = [
            "uid",
            "slug",
            "name",
            "zone",
            "currency",
            "example",
            "created_at",
            "archived_at",
        ]


class ProjectOut(serializers.ModelSerializer[Project]):
    """A team. `suspended`: nothing new is submitted or starts. `queue_held`: nothing starts.

    `closing_since`: it winds down, to be archived, or to move where `moving_to` says.
    """

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    moving_to = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)

    class Meta:
        model = Project
        fields = [
            "uid",
            "slug",
            "name",
            "organization",
            "cost_centre",
            "suspended",
            "suspended_reason",
            "most_live",
            "queue_held",
            "queue_held_reason",
            "example",
            "created_at",
            "archived_at",
            "closing_since",
            "moving_to",
        ]


class OrganizationIn(Given):
    """A new organization. Its zone and currency rule its bills."""

    slug = serializers.CharField(max_length=63)
    name = serializers.CharField(max_length=120)
    zone = serializers.CharField(max_length=64, required=False)
    currency = serializers.CharField(max_length=3, required=False)


class ProjectIn(Given):
    """A new project of an organization."""

    organization = serializers.SlugField(max_length=63)
    slug = serializers.CharField(max_length=63)
    name = serializers.CharField(max_length=120)
    cost_centre = serializers.CharField(max_length=63, required=False, allow_blank=True)


class SuspendIn(Given):
    """Why nothing new may start; the people of the project read it."""

    reason = serializers.CharField(max_length=200)


class OrganizationChangedIn(Given):
    """What changes. The currency is fixed as soon as anything was metered in it."""

    name = serializers.CharField(max_length=120, required=False)
    zone = serializers.CharField(max_length=64, required=False)
    currency = serializers.CharField(max_length=3, required=False)


class ProjectChangedIn(Given):
    """What changes. `most_live`: live workloads each member may have, pieces of arrays counted."""

    name = serializers.CharField(max_length=120, required=False)
    cost_centre = serializers.CharField(max_length=63, required=False, allow_blank=True)
    most_live = serializers.IntegerField(min_value=1, max_value=LARGEST_MOST_LIVE, required=False)


class CloseIn(Given):
    """`wind_down`: end what lives first. Without it a project in use is not closed (409)."""

    wind_down = serializers.BooleanField(required=False, default=False)


class MoveIn(CloseIn):
    """The organization that the project is to belong to, by slug."""

    organization = serializers.SlugField(max_length=63)


class LivingOut(serializers.Serializer[Any]):
    """What still lives of a project: it closes or moves when the first four are 0."""

    workloads = serializers.IntegerField(help_text="waiting or running; an array is one")
    holding = serializers.IntegerField(help_text="placements on cards or nodes now")
    leases = serializers.IntegerField(help_text="not ended")
    requests = serializers.IntegerField(help_text="drafts, and those that wait for an answer")
    schedules = serializers.IntegerField(help_text="active; closing pauses them")


class SlugFilters(Filters):
    """By name in addresses."""

    slug = serializers.SlugField(max_length=63, required=False)


class TenantFilters(SlugFilters):
    """By name in addresses, and whether archived."""

    archived = serializers.BooleanField(required=False, default=None, allow_null=True)


class ProjectFilters(TenantFilters):
    """By name, and by organization."""

    organization = serializers.SlugField(max_length=63, required=False)


def archived(rows: QuerySet[Any], asked: dict[str, Any]) -> QuerySet[Any]:
    """Those in use, or those put away; all of them when nobody says."""
    said = asked.pop("archived", None)
    return rows if said is None else rows.filter(archived_at__isnull=not said)


class OrganizationDoor(CriticalVerbs):
    """Organizations that the caller belongs to; a platform admin makes new ones."""

    serializer_class = OrganizationOut
    filters = TenantFilters
    sorts = {"slug": "slug", "name": "name"}
    searched = ("slug", "name")
    queryset = Organization.objects.none()
    takes = {
        "create": OrganizationIn,
        "partial_update": OrganizationChangedIn,
        "archive": Nothing,
        "reopen": Nothing,
        **CRITICAL_TAKES,
    }
    gives = {"create": (201, OrganizationOut), "critical_grant": (201, GrantOut)}

    def rows(self) -> QuerySet[Organization]:
        """The caller's own."""
        return organization_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Organization], **asked: Any) -> QuerySet[Organization]:
        """By slug and whether archived."""
        return super().narrowed(archived(rows, asked), **asked)

    def create(self, request: Request) -> Response:
        """A new organization, without projects or people."""
        self.allow(Verb.ORGANIZATION_MANAGE)
        return self.said(organization_create(actor=self.actor, **self.taken()))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change name, time zone or currency."""
        row: Organization = self.one()
        self.allow(Verb.ORGANIZATION_CHANGE, row)
        fixed = currency_fixed(row)
        given = self.taken()
        return self.said(
            organization_change(organization=row, actor=self.actor, currency_fixed=fixed, **given)
        )

    @action(detail=True, methods=["post"])
    def archive(self, request: Request, uid: str) -> Response:
        """Put it away; its projects must be archived."""
        row = self._managed()
        return self.said(organization_archive(organization=row, actor=self.actor))

    @action(detail=True, methods=["post"])
    def reopen(self, request: Request, uid: str) -> Response:
        """Take it back into use; its projects are reopened one by one."""
        row = self._managed()
        return self.said(organization_reopen(organization=row, actor=self.actor))

    def _managed(self) -> Organization:
        row: Organization = self.one()
        self.allow(Verb.ORGANIZATION_MANAGE, row)
        self.taken()
        return row


class ProjectDoor(Listed):
    """Projects whose work the caller may read; admins make, suspend and resume them."""

    serializer_class = ProjectOut
    filters = ProjectFilters
    sorts = {"slug": "slug", "name": "name", "cost_centre": "cost_centre"}
    searched = ("slug", "name", "cost_centre")
    queryset = Project.objects.none()
    takes = {
        "create": ProjectIn,
        "partial_update": ProjectChangedIn,
        "suspend": SuspendIn,
        "resume": Nothing,
        "hold": SuspendIn,
        "release": Nothing,
        "archive": CloseIn,
        "move": MoveIn,
        "reopen": Nothing,
    }
    gives = {"create": (201, ProjectOut), "living": (200, LivingOut)}

    def rows(self) -> QuerySet[Project]:
        """The caller's own."""
        return project_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Project], **asked: Any) -> QuerySet[Project]:
        """By slugs and whether archived."""
        rows = archived(rows, asked)
        if "organization" in asked:
            rows = rows.filter(organization__slug=asked.pop("organization"))
        return rows.filter(**asked)

    def create(self, request: Request) -> Response:
        """A new project, with a trust group of its own."""
        given = self.taken()
        organization = organization_named(self.standing, given.pop("organization"))
        self.allow(Verb.PROJECT_MANAGE, organization)
        return self.said(project_create(organization=organization, actor=self.actor, **given))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change name, cost centre, or how long the queue of each member may be."""
        project = self._managed()
        return self.said(project_change(project=project, actor=self.actor, **self.taken()))

    @action(detail=True, methods=["get"])
    def living(self, request: Request, uid: str) -> Response:
        """What still lives of it: the consequences of closing or moving it."""
        return self.said(project_living(project=self._managed()))

    @action(detail=True, methods=["post"])
    def archive(self, request: Request, uid: str) -> Response:
        """Put it away. What lives is ended first with `wind_down`; see `closing_since`."""
        project = self._managed()
        return self.said(project_archive(project=project, actor=self.actor, **self.taken()))

    @action(detail=True, methods=["post"])
    def move(self, request: Request, uid: str) -> Response:
        """Give it to another organization. Needs the right in both."""
        project = self._managed()
        given = self.taken()
        there = organization_named(self.standing, given.pop("organization"))
        self.allow(Verb.PROJECT_MANAGE, there)
        moved = project_move(project=project, organization=there, actor=self.actor, **given)
        return self.said(moved)

    @action(detail=True, methods=["post"])
    def reopen(self, request: Request, uid: str) -> Response:
        """Take back an archived project, or one that is closing."""
        project = self._managed()
        self.taken()
        return self.said(project_reopen(project=project, actor=self.actor))

    @action(detail=True, methods=["post"])
    def suspend(self, request: Request, uid: str) -> Response:
        """Nothing new starts in the project; what runs goes on."""
        project = self._managed()
        return self.said(project_suspend(project=project, actor=self.actor, **self.taken()))

    @action(detail=True, methods=["post"])
    def resume(self, request: Request, uid: str) -> Response:
        """Work may start again."""
        project = self._managed()
        self.taken()
        return self.said(project_resume(project=project, actor=self.actor))

    @action(detail=True, methods=["post"])
    def hold(self, request: Request, uid: str) -> Response:
        """Nothing of the project starts; it may go on submitting, and what runs goes on."""
        project = self._managed()
        return self.said(project_queue_hold(project=project, actor=self.actor, **self.taken()))

    @action(detail=True, methods=["post"])
    def release(self, request: Request, uid: str) -> Response:
        """What waits may start again."""
        project = self._managed()
        self.taken()
        return self.said(project_queue_release(project=project, actor=self.actor))

    def _managed(self) -> Project:
        project: Project = self.one()
        self.allow(Verb.PROJECT_MANAGE, project)
        return project
