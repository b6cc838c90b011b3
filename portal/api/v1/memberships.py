"""Who belongs where, in which role."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.roles import Role
from pool.models import Membership
from pool.selectors.memberships import memberships_seen
from pool.services.memberships import (
    membership_add,
    membership_change,
    membership_remove,
)
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import organization_named, person_named, project_named


class MembershipOut(serializers.ModelSerializer[Membership]):
    """One role of one user: on the platform, in an organization, or in a project.

    `directory`: the one that brought it (`ldap`, `oidc`); empty for a role given by hand.
    """

    user = serializers.CharField(source="user.username")
    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    directory = serializers.CharField(source="source", read_only=True)

    class Meta:
        model = Membership
        fields = ["uid", "user", "organization", "project", "role", "directory", "created_at"]


class MembershipIn(Given):
    """A role for a user: in a project, in an organization, or with neither on the platform."""

    user = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=[r.value for r in Role])
    project = serializers.SlugField(max_length=63, required=False)
    organization = serializers.SlugField(max_length=63, required=False)


class MembershipChangedIn(Given):
    """The role that the person is to hold in the same place instead."""

    role = serializers.ChoiceField(choices=[r.value for r in Role])


class MembershipFilters(Filters):
    """Filters of the list."""

    project = serializers.SlugField(max_length=63, required=False)
    organization = serializers.SlugField(max_length=63, required=False)
    role = serializers.ChoiceField(choices=[r.value for r in Role], required=False)
    user = serializers.CharField(max_length=150, required=False)
    service = serializers.BooleanField(
        required=False, allow_null=True, default=None, help_text="Of service accounts, or without."
    )


class MembershipDoor(Listed):
    """Members of the projects and organizations that the caller belongs to.

    Who manages the place gives and takes roles there, to people who hold one in the organization
    already; a platform admin to anybody.
    """

    serializer_class = MembershipOut
    filters = MembershipFilters
    sorts = {"user": "user__username", "role": "role"}
    searched = ("user__username", "user__display_name")
    queryset = Membership.objects.none()
    takes = {"create": MembershipIn, "partial_update": MembershipChangedIn}
    gives = {"create": (201, MembershipOut), "destroy": (204, None)}

    def rows(self) -> QuerySet[Membership]:
        """Roles of the caller's own places."""
        return memberships_seen(standing=self.standing)

    def narrowed(self, rows: QuerySet[Membership], **asked: Any) -> QuerySet[Membership]:
        """By slug and name, with service accounts or without."""
        service = asked.pop("service", None)
        if service is not None:
            rows = rows.filter(user__service_project__isnull=not service)
        paths = {
            "project": "project__slug",
            "organization": "organization__slug",
            "user": "user__username",
        }
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """Give a role; the same role twice is one."""
        given = self.taken()
        named, within = given.pop("project", None), given.pop("organization", None)
        project = project_named(self.standing, named) if named else None
        organization = organization_named(self.standing, within) if within else None
        for place in {project, organization} - {None} or {None}:
            self.allow(Verb.MEMBER_MANAGE, place)
        home = project.organization if project is not None else organization
        row = membership_add(
            user=person_named(self.standing, home, given["user"]),
            role=given["role"],
            project=project,
            organization=organization,
            actor=self.actor,
        )
        return self.said(row)

    def partial_update(self, request: Request, uid: str) -> Response:
        """Another role in the same place."""
        row: Membership = self.one()
        self.allow(Verb.MEMBER_MANAGE, row.project or row.organization)
        return self.said(membership_change(membership=row, actor=self.actor, **self.taken()))

    def destroy(self, request: Request, uid: str) -> Response:
        """Take a role away; the last platform admin stays."""
        row: Membership = self.one()
        self.allow(Verb.MEMBER_MANAGE, row.project or row.organization)
        membership_remove(membership=row, actor=self.actor)
        return Response(status=204)
