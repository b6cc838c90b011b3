"""Who belongs where, in which role."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from pool.lifecycle.roles import Role
from pool.models import Membership
from pool.selectors.memberships import memberships_seen
from portal.api.door import Listed
from portal.api.fields import Filters


class MembershipOut(serializers.ModelSerializer[Membership]):
    """One role of one user: on the platform, in an organization, or in a project."""

    user = serializers.CharField(source="user.username")
    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)

    class Meta:
        model = Membership
        fields = ["uid", "user", "organization", "project", "role", "created_at"]


class MembershipFilters(Filters):
    """Filters of the list."""

    project = serializers.SlugField(max_length=63, required=False)
    organization = serializers.SlugField(max_length=63, required=False)
    role = serializers.ChoiceField(choices=[r.value for r in Role], required=False)
    user = serializers.CharField(max_length=150, required=False)


class MembershipDoor(Listed):
    """Members of the projects and organizations that the caller belongs to."""

    serializer_class = MembershipOut
    filters = MembershipFilters
    queryset = Membership.objects.none()

    def rows(self) -> QuerySet[Membership]:
        """Roles of the caller's own places."""
        return memberships_seen(standing=self.standing)

    def narrowed(self, rows: QuerySet[Membership], **asked: Any) -> QuerySet[Membership]:
        """By slug and name."""
        paths = {
            "project": "project__slug",
            "organization": "organization__slug",
            "user": "user__username",
        }
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})
