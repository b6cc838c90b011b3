"""How much may be held, is held, and needs no request."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.cycle.quotatree.trial import quota_trial
from pool.errors import Forbidden, NotYours
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models import Project, Quota
from pool.selectors.quotas import quota_list
from pool.selectors.tenants import organization_list, project_list
from pool.services.quotas import MOST, QuotaLine, overs, quotas_set
from pool.services.quotatree.undo import quotas_undo, undo_lines
from portal.access.dealing import may_set
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.quotatree.bodies import LinesIn, QuotaTrialIn, line_said, lines_said


class QuotaOut(serializers.ModelSerializer[Quota]):
    """One level of one unit: a limit, an allowance or an entitlement, shown apart."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    user = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    limit = serializers.IntegerField(source="limit_value")
    available = serializers.SerializerMethodField()
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
            "granted",
            "lend_limit",
            "held",
            "available",
            "over_by",
            "changed_at",
        ]

    def get_available(self, row: Quota) -> int:
        """How much more may be held; 0 where more is held than the limit allows."""
        return max(0, row.limit_value - row.held)

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


class QuotaPut(Given):
    """The row's limit from now on; `lend` is of a guarantee only, null lends all of it."""

    limit = serializers.IntegerField(min_value=0, max_value=MOST)
    lend = serializers.IntegerField(min_value=0, max_value=MOST, allow_null=True, required=False)
    expected = serializers.IntegerField(min_value=0, max_value=MOST, required=False)
    reason = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class UndoIn(Given):
    """The `change` of the events that told of it, and why it is taken back."""

    change = serializers.CharField(max_length=48)
    reason = serializers.CharField(max_length=200)


class SetOut(serializers.Serializer[Any]):
    """The rows that really changed."""

    results = QuotaOut(many=True)


class TrialOut(serializers.Serializer[Any]):
    """Who in the queue would fare otherwise; null where the planner counts none of the rows."""

    sooner = serializers.IntegerField(allow_null=True)
    later = serializers.IntegerField(allow_null=True)
    same = serializers.IntegerField(allow_null=True)
    over_by = serializers.ListField(child=serializers.IntegerField())


class QuotaDoor(Listed):
    """Quota rows of the caller's organizations and projects.

    A platform admin sets them all, an organization's admin the limits and allowances of its
    projects and their members.
    """

    serializer_class = QuotaOut
    filters = QuotaFilters
    sorts = {"limit": "limit_value", "held": "held"}
    searched = ("project__slug", "organization__slug", "user__username", "partition__slug")
    queryset = Quota.objects.none()
    http_method_names = ["get", "post", "put", "delete", "head"]
    takes = {
        "create": QuotaIn,
        "update": QuotaPut,
        "many": LinesIn,
        "preview": QuotaTrialIn,
        "undo": UndoIn,
    }
    gives = {
        "create": (201, QuotaOut),
        "destroy": (204, None),
        "many": (200, SetOut),
        "preview": (200, TrialOut),
        "undo": (200, SetOut),
    }

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
        reason = given.pop("reason", "")
        line = line_said(self.standing, {"card_model": "", **given})
        self._set([line], reason)
        return self.said(Quota.objects.get(**line.place))

    def update(self, request: Request, uid: str) -> Response:
        """Set the limit of one row."""
        row, given = self.one(), self.taken()
        reason = given.pop("reason")
        self._set([_line_of(row, **given)], reason)
        return self.said(self.one())

    def destroy(self, request: Request, uid: str) -> Response:
        """Take the row away: nothing binds there any more but what is above."""
        self._set([_line_of(self.one(), limit=None)], "")
        return Response(status=204)

    @action(detail=False, methods=["post"])
    def many(self, request: Request) -> Response:
        """Set many rows together, all or none, each as it was read."""
        given = self.taken()
        lines = lines_said(self.standing, given["lines"])
        return self._shown(self._set(lines, given["reason"]))

    @action(detail=False, methods=["post"])
    def preview(self, request: Request) -> Response:
        """What setting the rows would bring; nothing is written."""
        lines = lines_said(self.standing, self.taken()["lines"])
        self._guarded(lines)
        found = quota_trial(self.looked(), lines)
        told = {
            "sooner": found and sum(one.gains for one in found.turned),
            "later": found and sum(not one.gains for one in found.turned),
            "same": found and found.waiting - len(found.turned),
            "over_by": overs(lines=lines),
        }
        return self.said(told)

    @action(detail=False, methods=["post"])
    def undo(self, request: Request) -> Response:
        """Take a change back, as a new change; refused where something was changed since."""
        given = self.taken()
        try:
            lines = undo_lines(change=given["change"])
        except NotYours:
            lines = []
        if not lines or not all(self._knows(line) for line in lines):
            raise serializers.ValidationError({"change": [_("No such change.")]})
        self._guarded(lines)
        return self._shown(quotas_undo(actor=self.actor, **given))

    def _set(self, lines: list[QuotaLine], reason: str) -> list[Quota]:
        self._guarded(lines)
        return quotas_set(lines=lines, actor=self.actor, reason=reason)

    def _guarded(self, lines: list[QuotaLine]) -> None:
        if not all(may_set(self.standing, line.tenant, line.kind) for line in lines):
            raise Forbidden

    def _knows(self, line: QuotaLine) -> bool:
        of_project = isinstance(line.tenant, Project)
        rows = project_list if of_project else organization_list
        return bool(rows(standing=self.standing).filter(pk=line.tenant.pk).exists())

    def _shown(self, made: list[Quota]) -> Response:
        kept = self.rows().filter(pk__in=[row.pk for row in made])
        return self.said({"results": kept})


def _line_of(row: Quota, **given: Any) -> QuotaLine:
    tenant = row.project or row.organization
    assert tenant is not None, "the table has one tenant"
    names = ("user", "partition", "card_model", "unit", "kind")
    return QuotaLine(tenant=tenant, **{name: getattr(row, name) for name in names}, **given)
