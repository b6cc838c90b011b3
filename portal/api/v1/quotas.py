"""How much may be held, is held, and needs no request."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models import Organization, Project, Quota
from pool.selectors.quotas import quota_list
from pool.services.quotas import MOST, quota_set
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import (
    organization_named,
    partition_named,
    person_named,
    project_named,
)


class QuotaOut(serializers.ModelSerializer[Quota]):
    """One level of one unit: a limit, an allowance or an entitlement, shown apart."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    user = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    limit = serializers.IntegerField(source="limit_value")
    over_by = serializers.SerializerMethodField()

    class Meta:
        model = Quota
        fields = [
            "uid",
            "organization",
            "project",
            "user",
            "partition",
            "card_model",
            "unit",
            "kind",
            "limit",
            "held",
            "over_by",
            "changed_at",
        ]

    def get_over_by(self, row: Quota) -> int:
        """How much more is held than the limit allows."""
        return max(0, row.held - row.limit_value)


class QuotaIn(Given):
    """What one tenant may hold of one unit in a partition: a project, or an organization.

    `user` narrows a project's limit to one member; `card_model` counts one kind of card alone.
    """

    project = serializers.SlugField(max_length=63, required=False)
    organization = serializers.SlugField(max_length=63, required=False)
    user = serializers.CharField(max_length=150, required=False)
    partition = serializers.SlugField(max_length=63)
    unit = serializers.ChoiceField(choices=[u.value for u in QuotaUnit])
    kind = serializers.ChoiceField(choices=[k.value for k in QuotaKind])
    limit = serializers.IntegerField(min_value=0, max_value=MOST)
    card_model = serializers.CharField(max_length=80, required=False, allow_blank=True)
    reason = serializers.CharField(max_length=200, required=False, allow_blank=True)


class QuotaFilters(Filters):
    """Filters of the list."""

    kind = serializers.ChoiceField(choices=[k.value for k in QuotaKind], required=False)
    unit = serializers.ChoiceField(choices=[u.value for u in QuotaUnit], required=False)
    project = serializers.SlugField(max_length=63, required=False)
    partition = serializers.SlugField(max_length=63, required=False)


class QuotaDoor(Listed):
    """Quota rows of the caller's organizations and projects.

    A platform admin sets them all, an organization's admin the allowances of its projects.
    """

    serializer_class = QuotaOut
    filters = QuotaFilters
    queryset = Quota.objects.none()
    takes = {"create": QuotaIn}
    gives = {"create": (201, QuotaOut)}

    def rows(self) -> QuerySet[Quota]:
        """The caller's own."""
        return quota_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Quota], **asked: Any) -> QuerySet[Quota]:
        """By slugs."""
        paths = {"project": "project__slug", "partition": "partition__slug"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """Set one row, new or known; nothing that runs is stopped by a smaller limit."""
        given = self.taken()
        tenant = self._tenant(given)
        allowance = given["kind"] == QuotaKind.ALLOWANCE
        self.allow(Verb.ALLOWANCE_SET if allowance else Verb.QUOTA_SET, tenant)
        given["partition"] = partition_named(self.standing, given["partition"])
        if "user" in given:
            home = tenant.organization if isinstance(tenant, Project) else tenant
            given["user"] = person_named(self.standing, home, given["user"])
        return self.said(quota_set(tenant=tenant, actor=self.actor, **given))

    def _tenant(self, given: dict[str, Any]) -> Organization | Project:
        project, organization = given.pop("project", None), given.pop("organization", None)
        if (project is None) == (organization is None):
            said = _("Name a project or an organization.")
            raise serializers.ValidationError({"project": [said]})
        if project is not None:
            return project_named(self.standing, project)
        return organization_named(self.standing, str(organization))
