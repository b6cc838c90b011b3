"""Changes of quota rows on a day to come, and grants that end."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Forbidden
from pool.lifecycle.targets import PlannedQuotaKind, PlannedQuotaState
from pool.models import PlannedQuota
from pool.selectors.quotatree.history import planned_list
from pool.services.quotas import MOST
from pool.services.quotatree.planned import quota_plan, quota_plan_cancel
from portal.access.dealing import may_set
from portal.api.door import Listed
from portal.api.fields import Filters, Reason
from portal.api.v1.quotatree.bodies import RowIn, line_said


class PlanOut(serializers.ModelSerializer[PlannedQuota]):
    """A row is set to `amount` at `starts_at`, or has so much more until `ends_at`."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    user = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)

    class Meta:
        model = PlannedQuota
        fields = [
            *("uid", "organization", "project", "user", "partition", "card_model", "unit", "kind"),
            *("does", "amount", "starts_at", "ends_at", "state", "state_since", "state_reason"),
            *("reason", "created_at"),
        ]


class PlanIn(RowIn):
    """`does` set: the limit from then on. `does` grant: so much more, until `ends_at`."""

    does = serializers.ChoiceField(choices=[k.value for k in PlannedQuotaKind])
    amount = serializers.IntegerField(min_value=0, max_value=MOST)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(required=False, allow_null=True)
    reason = serializers.CharField(max_length=200)


class PlanFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in PlannedQuotaState], required=False)
    does = serializers.ChoiceField(choices=[k.value for k in PlannedQuotaKind], required=False)


class PlanDoor(Listed):
    """Planned changes of the tenants whose quotas the caller may see, newest first."""

    serializer_class = PlanOut
    filters = PlanFilters
    queryset = PlannedQuota.objects.none()
    takes = {"create": PlanIn, "cancel": Reason}
    gives = {"create": (201, PlanOut)}

    def rows(self) -> QuerySet[PlannedQuota]:
        """The caller's own."""
        return planned_list(standing=self.standing)

    def create(self, request: Request) -> Response:
        """Plan a change; who may set the row now may plan it."""
        given = self.taken()
        line = line_said(self.standing, given | {"limit": given["amount"]})
        if not may_set(self.standing, line.tenant, line.kind):
            raise Forbidden
        made = quota_plan(
            line=line,
            does=given["does"],
            starts_at=given["starts_at"],
            ends_at=given.get("ends_at"),
            reason=given["reason"],
            actor=self.actor,
        )
        return self.said(made)

    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, uid: str) -> Response:
        """Call it off before it begins, or end a grant now."""
        row: PlannedQuota = self.one()
        tenant = row.project or row.organization
        if tenant is None or not may_set(self.standing, tenant, row.kind):
            raise Forbidden
        return self.said(quota_plan_cancel(plan=row, actor=self.actor, **self.taken()))
