"""Statements: a month of an organization with its lines; reviewed and closed by a person."""

from datetime import date
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from billing.models.months import Month
from billing.rating.accounts import Account
from billing.rating.months import MonthState
from billing.rating.statements import ROUNDING, Line
from billing.selectors.statements import bill_file, bill_of, month_list, month_now
from billing.services.months import (
    dispute_open,
    month_close,
    month_open,
    month_reopen,
    month_review,
)
from pool.errors import Invalid
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.billing.disputes import DisputeOut
from portal.api.v1.references import organization_named

FIRST = date(2000, 1, 1)
"""No bill is older."""

ACCOUNTS = [*(one.value for one in Account), ROUNDING]


class InvoiceLine(serializers.Serializer[Line]):
    """One line. `line_id` is the same for the same thing every month; `late` is of earlier ones.

    `amount_micro` is exact, in 10⁻⁶ of the currency; `amount_cents` rounded, and sums to the total.
    """

    number = serializers.IntegerField()
    line_id = serializers.CharField()
    project = serializers.CharField(source="what.project_slug")
    cost_centre = serializers.CharField(source="what.cost_centre")
    account = serializers.ChoiceField(choices=ACCOUNTS, source="what.account")
    card_model = serializers.CharField(source="what.card_model")
    mode = serializers.CharField(source="what.mode")
    price_class = serializers.CharField(source="what.price_class")
    late = serializers.BooleanField(source="what.late")
    card_seconds = serializers.SerializerMethodField()
    amount_micro = serializers.IntegerField(source="what.amount_micro")
    amount_cents = serializers.IntegerField()

    def get_card_seconds(self, line: Line) -> float:
        """Card time in whole cards, seconds."""
        return line.what.card_us / 1_000_000


class InvoiceOut(serializers.ModelSerializer[Month]):
    """A month. `total_micro` and `digest` (SHA-256 of the file) are fixed when it is closed."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    month = serializers.DateField(source="first", format="%Y-%m")
    state = serializers.ChoiceField(choices=[one.value for one in MonthState])

    class Meta:
        model = Month
        fields = [
            "uid",
            "organization",
            "month",
            "zone",
            "currency",
            "state",
            "reviewed_by",
            "closed_by",
            "closed_at",
            "total_micro",
            "digest",
        ]


class InvoiceLines(serializers.Serializer[Any]):
    """The lines of a month, as they are now, or as it was closed."""

    state = serializers.ChoiceField(choices=[one.value for one in MonthState], source="month.state")
    lines = InvoiceLine(many=True)
    total_micro = serializers.IntegerField(source="micro")
    total_cents = serializers.IntegerField(source="cents")


class InvoiceFilters(Filters):
    """Filters of the list."""

    organization = serializers.SlugField(max_length=63, required=False)
    state = serializers.ChoiceField(choices=[one.value for one in MonthState], required=False)


class InvoiceIn(Given):
    """Which month, for example 2026-11."""

    organization = serializers.SlugField(max_length=63)
    month = serializers.DateField(input_formats=["%Y-%m"])


class DisputeIn(Given):
    """What is wrong with a line, and by how much, in 10⁻⁶ of the currency."""

    line_id = serializers.CharField(max_length=24)
    text = serializers.CharField(max_length=2000)
    asked_micro = serializers.IntegerField(
        min_value=1, max_value=10**17, required=False, allow_null=True, default=None
    )


class InvoiceDoor(Listed):
    """Months of organizations whose whole cost the caller reads."""

    serializer_class = InvoiceOut
    filters = InvoiceFilters
    queryset = Month.objects.none()
    takes = {"create": InvoiceIn, "dispute": DisputeIn}
    gives = {
        "create": (201, InvoiceOut),
        "lines": (200, InvoiceLines),
        "dispute": (201, DisputeOut),
        "file": (200, None),
    }

    def rows(self) -> QuerySet[Month]:
        """The caller's own."""
        return month_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Month], **asked: Any) -> QuerySet[Month]:
        """By organization and state."""
        paths = {"organization": "organization__slug"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """The statement of a month that has begun; the one that is there, if it is."""
        given = self.taken()
        place = organization_named(self.standing, given["organization"])
        self.allow(Verb.MONTH_CLOSE, place)
        if not FIRST <= given["month"] <= month_now(place):
            raise Invalid(month="2026-11")
        return self.said(month_open(organization=place, first=given["month"]))

    @action(detail=True, methods=["get"])
    def lines(self, request: Request, uid: str) -> Response:
        """The lines, each with its exact and its rounded amount."""
        return self.said(bill_of(self.one()))

    @action(detail=True, methods=["get"])
    def file(self, request: Request, uid: str) -> HttpResponse:
        """The file for other systems (CSV); of a closed month the same bytes every time."""
        return HttpResponse(bill_file(self.one()), content_type="text/csv; charset=utf-8")

    @action(detail=True, methods=["post"])
    def review(self, request: Request, uid: str) -> Response:
        """A person has looked at it: costs beside the cards are on it now."""
        return self.said(month_review(month=self._manages(), actor=self.actor))

    @action(detail=True, methods=["post"])
    def reopen(self, request: Request, uid: str) -> Response:
        """Back to provisional, before it is closed."""
        return self.said(month_reopen(month=self._manages(), actor=self.actor))

    @action(detail=True, methods=["post"])
    def close(self, request: Request, uid: str) -> Response:
        """Fix it for ever."""
        return self.said(month_close(month=self._manages(), actor=self.actor))

    @action(detail=True, methods=["post"])
    def dispute(self, request: Request, uid: str) -> Response:
        """Complain about a line."""
        row = self.one()
        made = dispute_open(month=row, user=self.user, actor=self.actor, **self.taken())
        return self.said(made)

    def _manages(self) -> Month:
        row: Month = self.one()
        self.allow(Verb.MONTH_CLOSE, row)
        self.taken()
        return row
