"""What scripts say of quota rows, many at once, and how a row is named."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models import Organization, Partition, Project, User
from pool.selectors.memberships import Standing
from pool.services.quotas import ANY, MOST, QuotaLine
from portal.api.fields import Given
from portal.api.v1.references import (
    organization_named,
    partition_named,
    person_named,
    project_named,
)


class RowIn(Given):
    """Names one row: a project or an organization, perhaps a member, and what is counted."""

    project = serializers.SlugField(max_length=63, required=False)
    organization = serializers.SlugField(max_length=63, required=False)
    user = serializers.CharField(max_length=150, required=False)
    partition = serializers.SlugField(max_length=63)
    unit = serializers.ChoiceField(choices=[u.value for u in QuotaUnit])
    kind = serializers.ChoiceField(choices=[k.value for k in QuotaKind], default="limit")
    card_model = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")


class LineIn(RowIn):
    """What one row is to be; `limit` null takes it away, `lend` null lends all of a guarantee.

    `expected` is the limit that was read (null: there was no row): otherwise it is refused.
    """

    limit = serializers.IntegerField(min_value=0, max_value=MOST, allow_null=True)
    lend = serializers.IntegerField(min_value=0, max_value=MOST, allow_null=True, required=False)
    expected = serializers.IntegerField(
        min_value=0, max_value=MOST, allow_null=True, required=False
    )


class LinesIn(Given):
    """Rows that are set together, all or none, and why."""

    lines = LineIn(many=True, min_length=1, max_length=1000)  # type: ignore[call-arg]
    reason = serializers.CharField(max_length=200)


class QuotaTrialIn(Given):
    """Rows to try; nothing is written."""

    lines = LineIn(many=True, min_length=1, max_length=1000)  # type: ignore[call-arg]


class Names:
    """What bodies name, looked up once for all lines of one."""

    def __init__(self, standing: Standing) -> None:
        self.partition: Callable[[str], Partition] = cache(partial(partition_named, standing))
        self.project: Callable[[str], Project] = cache(partial(project_named, standing))
        self.organization: Callable[[str], Organization] = cache(
            partial(organization_named, standing)
        )
        self.person: Callable[[Organization, str], User] = cache(partial(person_named, standing))


def tenant_said(known: Names, given: dict[str, Any]) -> Organization | Project:
    """The tenant that the words name.

    Raises:
        ValidationError: none, two, or one that is unknown to the caller.
    """
    project, organization = given.get("project"), given.get("organization")
    if (project is None) == (organization is None):
        raise serializers.ValidationError({"project": [_("Name a project or an organization.")]})
    if project is not None:
        return known.project(project)
    return known.organization(str(organization))


def line_said(standing: Standing, given: dict[str, Any], names: Names | None = None) -> QuotaLine:
    """The line with rows for names.

    Raises:
        ValidationError: a name is unknown to the caller.
    """
    known = names or Names(standing)
    tenant = tenant_said(known, given)
    home = tenant.organization if isinstance(tenant, Project) else tenant
    return QuotaLine(
        tenant=tenant,
        user=known.person(home, given["user"]) if "user" in given else None,
        partition=known.partition(given["partition"]),
        unit=given["unit"],
        kind=given["kind"],
        card_model=given["card_model"],
        limit=given.get("limit"),
        lend=given.get("lend", ANY),
        expected=given.get("expected", ANY),
    )


def lines_said(standing: Standing, many: list[dict[str, Any]]) -> list[QuotaLine]:
    """Many lines; each name is looked up once. Raises as `line_said`."""
    names = Names(standing)
    return [line_said(standing, one, names) for one in many]
