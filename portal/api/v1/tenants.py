"""Organizations and projects."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.models import Organization, Project
from pool.rules.workloads import LARGEST_MOST_LIVE
from pool.selectors.tenants import organization_list, project_list
from pool.services.queueing.steer import project_queue_hold, project_queue_release
from pool.services.tenants import (
    organization_create,
    project_create,
    project_most_live,
    project_resume,
    project_suspend,
)
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
        fields = ["uid", "slug", "name", "zone", "currency", "example", "created_at"]


class ProjectOut(serializers.ModelSerializer[Project]):
    """A team. `suspended`: nothing new is submitted or starts. `queue_held`: nothing starts."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)

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


class ProjectChangedIn(Given):
    """How many live workloads each member may have; pieces of arrays count one by one."""

    most_live = serializers.IntegerField(min_value=1, max_value=LARGEST_MOST_LIVE)


class SlugFilters(Filters):
    """By name in addresses."""

    slug = serializers.SlugField(max_length=63, required=False)


class ProjectFilters(SlugFilters):
    """By name, and by organization."""

    organization = serializers.SlugField(max_length=63, required=False)


class OrganizationDoor(CriticalVerbs):
    """Organizations that the caller belongs to; a platform admin makes new ones."""

    serializer_class = OrganizationOut
    filters = SlugFilters
    queryset = Organization.objects.none()
    takes = {"create": OrganizationIn, **CRITICAL_TAKES}
    gives = {"create": (201, OrganizationOut), "critical_grant": (201, GrantOut)}

    def rows(self) -> QuerySet[Organization]:
        """The caller's own."""
        return organization_list(standing=self.standing)

    def create(self, request: Request) -> Response:
        """A new organization, without projects or people."""
        self.allow(Verb.ORGANIZATION_MANAGE)
        return self.said(organization_create(actor=self.actor, **self.taken()))


class ProjectDoor(Listed):
    """Projects whose work the caller may read; admins make, suspend and resume them."""

    serializer_class = ProjectOut
    filters = ProjectFilters
    queryset = Project.objects.none()
    takes = {
        "create": ProjectIn,
        "partial_update": ProjectChangedIn,
        "suspend": SuspendIn,
        "resume": Nothing,
        "hold": SuspendIn,
        "release": Nothing,
    }
    gives = {"create": (201, ProjectOut)}

    def rows(self) -> QuerySet[Project]:
        """The caller's own."""
        return project_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Project], **asked: Any) -> QuerySet[Project]:
        """By slugs."""
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
        """Set how long the queue of each member may be."""
        project = self._managed()
        return self.said(project_most_live(project=project, actor=self.actor, **self.taken()))

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
