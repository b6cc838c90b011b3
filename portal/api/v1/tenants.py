"""Organizations and projects."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from pool.models import Organization, Project
from pool.selectors.tenants import organization_list, project_list
from portal.api.door import Listed
from portal.api.fields import Filters


class OrganizationOut(serializers.ModelSerializer[Organization]):
    """A company or department."""

    class Meta:
        model = Organization
        fields = ["uid", "slug", "name", "zone", "currency", "example", "created_at"]


class ProjectOut(serializers.ModelSerializer[Project]):
    """A team. `suspended` means that nothing new starts, with the reason."""

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
            "example",
            "created_at",
        ]


class SlugFilters(Filters):
    """By name in addresses."""

    slug = serializers.SlugField(max_length=63, required=False)


class ProjectFilters(SlugFilters):
    """By name, and by organization."""

    organization = serializers.SlugField(max_length=63, required=False)


class OrganizationDoor(Listed):
    """Organizations that the caller belongs to."""

    serializer_class = OrganizationOut
    filters = SlugFilters
    queryset = Organization.objects.none()

    def rows(self) -> QuerySet[Organization]:
        """The caller's own."""
        return organization_list(standing=self.standing)


class ProjectDoor(Listed):
    """Projects whose work the caller may read."""

    serializer_class = ProjectOut
    filters = ProjectFilters
    queryset = Project.objects.none()

    def rows(self) -> QuerySet[Project]:
        """The caller's own."""
        return project_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Project], **asked: Any) -> QuerySet[Project]:
        """By slugs."""
        if "organization" in asked:
            rows = rows.filter(organization__slug=asked.pop("organization"))
        return rows.filter(**asked)
