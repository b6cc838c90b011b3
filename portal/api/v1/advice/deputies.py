"""Deputies of the caller, and those for whom the caller decides."""

from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from pool.models import Delegation
from pool.selectors.approvals.deputies import deputies_possible
from pool.services.approvals.delegations import delegation_create, delegation_end
from portal.api.door import Listed
from portal.api.fields import Given


class DelegationOut(serializers.ModelSerializer[Delegation]):
    """For its time the deputy decides what the person may, never the person's own requests."""

    person = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    deputy = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    starts_at = serializers.DateTimeField(source="span.lower")
    ends_at = serializers.DateTimeField(source="span.upper")

    class Meta:
        model = Delegation
        fields = ["uid", "person", "deputy", "starts_at", "ends_at", "reason", "ended_at"]


class DelegationIn(Given):
    """Name a deputy by user name, for at most 92 days."""

    deputy = serializers.CharField(max_length=150)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    reason = serializers.CharField(max_length=200, default="", allow_blank=True)


class DelegationDoor(Listed):
    """The caller's own, both ways."""

    serializer_class = DelegationOut
    queryset = Delegation.objects.none()
    takes = {"create": DelegationIn}
    gives = {"create": (201, DelegationOut), "destroy": (204, None)}

    def rows(self) -> QuerySet[Delegation]:
        """Named by the caller, or naming them."""
        own = Q(person=self.user) | Q(deputy=self.user)
        return Delegation.objects.filter(own).select_related("person", "deputy").order_by("-pk")

    def create(self, request: Request) -> Response:
        """Name a deputy; both are told."""
        given = self.taken()
        rows = deputies_possible(standing=self.standing)
        deputy = rows.filter(username=given.pop("deputy")).first()
        if deputy is None and self.standing.decides:
            raise ValidationError({"deputy": [_("No such person.")]})
        made = delegation_create(
            person=self.user, deputy=deputy or self.user, actor=self.actor, **given
        )
        return self.said(made)

    def destroy(self, request: Request, uid: str) -> Response:
        """End it now."""
        row = self.one()
        delegation_end(delegation=row, actor=self.actor)
        return self.said(row)
