"""Complaints about lines of statements, and what became of them."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from billing.models.months import Dispute
from billing.rating.months import DisputeState
from billing.selectors.statements import dispute_list
from billing.services.months import dispute_decide
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given


class DisputeOut(serializers.ModelSerializer[Dispute]):
    """A complaint; what was granted is a credit on the first open month, 10⁻⁶ of the currency."""

    invoice = serializers.CharField(source="month.uid")
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    state = serializers.ChoiceField(choices=[one.value for one in DisputeState])
    opened_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = Dispute
        fields = [
            "uid",
            "invoice",
            "project",
            "line_id",
            "text",
            "asked_micro",
            "state",
            "opened_by",
            "opened_at",
            "answer",
            "answered_by",
            "answered_at",
            "granted_micro",
        ]


class DisputeFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[one.value for one in DisputeState], required=False)


class DisputeDecision(Given):
    """Granted with an amount in 10⁻⁶ of the currency, or refused; with words."""

    accept = serializers.BooleanField()
    answer = serializers.CharField(max_length=2000)
    granted_micro = serializers.IntegerField(min_value=0, max_value=10**17, default=0)


class DisputeDoor(Listed):
    """Complaints about statements that the caller reads."""

    serializer_class = DisputeOut
    filters = DisputeFilters
    queryset = Dispute.objects.none()
    takes = {"decide": DisputeDecision}

    def rows(self) -> QuerySet[Dispute]:
        """The caller's own."""
        return dispute_list(standing=self.standing)

    @action(detail=True, methods=["post"])
    def decide(self, request: Request, uid: str) -> Response:
        """Grant a credit, or refuse."""
        row = self.one()
        self.allow(Verb.MONTH_CLOSE, row.month)
        return self.said(dispute_decide(dispute=row, actor=self.actor, **self.taken()))
