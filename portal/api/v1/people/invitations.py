"""Invitations by mail."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.roles import Role
from pool.models import Invitation
from pool.rules.people import USUAL
from pool.selectors.people.invited import invitation_list
from pool.services.people.invitations import invitation_revoke
from portal.access.inviting import invite
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import organization_named, project_named

ROLES = sorted(role.value for role in Role if role is not Role.PLATFORM_ADMIN)


class InvitationOut(serializers.ModelSerializer[Invitation]):
    """An offer of one role. Its link is told in the mail and in the answer that makes it only."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    invited_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    accepted_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = Invitation
        fields = [
            "uid",
            "email",
            "organization",
            "project",
            "role",
            "message",
            "invited_by",
            "created_at",
            "expires_at",
            "accepted_at",
            "accepted_by",
            "revoked_at",
        ]


class InvitationTold(InvitationOut):
    """A new invitation with its link, which was mailed and can be used once."""

    link = serializers.CharField()

    class Meta(InvitationOut.Meta):
        fields = [*InvitationOut.Meta.fields, "link"]


class InvitationIn(Given):
    """Whom to invite into one project, or one organization, and as what."""

    email = serializers.CharField(max_length=254)
    role = serializers.ChoiceField(choices=ROLES)
    project = serializers.SlugField(max_length=63, required=False)
    organization = serializers.SlugField(max_length=63, required=False)
    expires_in_seconds = serializers.IntegerField(
        required=False, default=int(USUAL.total_seconds()), help_text="one hour to 30 days"
    )
    message = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class InvitationFilters(Filters):
    """Filters of the list."""

    project = serializers.SlugField(max_length=63, required=False)
    organization = serializers.SlugField(max_length=63, required=False)
    email = serializers.CharField(max_length=254, required=False)


class InvitationDoor(Listed):
    """Invitations into places that the caller manages; `DELETE` revokes one."""

    serializer_class = InvitationOut
    filters = InvitationFilters
    sorts = {"email": "email", "expires": "expires_at"}
    searched = ("email",)
    queryset = Invitation.objects.none()
    told_once = ("link",)
    takes = {"create": InvitationIn}
    gives = {"create": (201, InvitationTold), "destroy": (204, None)}

    def rows(self) -> QuerySet[Invitation]:
        """Into the caller's own places."""
        return invitation_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Invitation], **asked: Any) -> QuerySet[Invitation]:
        """By place and address."""
        paths = {
            "project": "project__slug",
            "organization": "organization__slug",
            "email": "email__iexact",
        }
        return rows.filter(**{paths[name]: value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """Invite somebody; the link is mailed."""
        given = self.taken()
        named, within = given.pop("project", None), given.pop("organization", None)
        project = project_named(self.standing, named) if named else None
        organization = organization_named(self.standing, within) if within else None
        self.allow(Verb.MEMBER_MANAGE, project or organization)
        row, link = invite(
            user=self.user,
            actor=self.actor,
            project=project,
            organization=organization,
            seconds=given.pop("expires_in_seconds"),
            **given,
        )
        row.link = link  # type: ignore[attr-defined]
        return self.said(row)

    def destroy(self, request: Request, uid: str) -> Response:
        """Revoke it: its link works no more."""
        row: Invitation = self.one()
        self.allow(Verb.MEMBER_MANAGE, row.project or row.organization)
        invitation_revoke(invitation=row, actor=self.actor)
        return Response(status=204)
