"""Team billing for scripts: a month of an organization, or what of it the caller may read."""

from datetime import date
from typing import Any

from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from billing.rating.accounts import Account
from billing.selectors.statements import month_now
from billing.selectors.team import GROUPS
from pool.errors import Forbidden, Invalid
from pool.models import Organization
from portal.api.door import Door
from portal.api.fields import Given
from portal.api.v1.references import organization_named
from portal.pages.billing.month import MonthReport, month_report
from portal.pages.billing.places import homes_of, place_in

FIRST = date(2000, 1, 1)
WASTES = [Account.HELD_IDLE.value, Account.STRANDED.value]


class TeamReportIn(Given):
    """Whose month (the running one when none is given), and by what it is told."""

    organization = serializers.SlugField(max_length=63)
    month = serializers.DateField(
        input_formats=["%Y-%m"], required=False, allow_null=True, default=None
    )
    by = serializers.ChoiceField(choices=sorted(GROUPS), default="project")


class BillPart(serializers.Serializer[Any]):
    """One part of the charge, in 10⁻⁶ of the currency."""

    account = serializers.CharField()
    amount_micro = serializers.IntegerField()


class BillGroup(serializers.Serializer[Any]):
    """One project, person, … : the charge, what of it was wasted, card-seconds held and used.

    Amounts are null where the contract shows use without money.
    """

    name = serializers.CharField()
    amount_micro = serializers.IntegerField(allow_null=True)
    waste_micro = serializers.IntegerField(allow_null=True)
    held_seconds = serializers.FloatField()
    used_seconds = serializers.FloatField()


class BillWaste(serializers.Serializer[Any]):
    """Work whose money went for nothing: idle, or leaving the rest of a card of no use."""

    workload = serializers.CharField()
    name = serializers.CharField()
    owner = serializers.CharField()
    project = serializers.CharField()
    account = serializers.ChoiceField(choices=WASTES)
    amount_micro = serializers.IntegerField(source="micro")


class BillDay(serializers.Serializer[Any]):
    """What one day came to."""

    day = serializers.DateField()
    amount_micro = serializers.IntegerField()


class TeamReportOut(serializers.Serializer[Any]):
    """The month. Amounts are in 10⁻⁶ of the currency; lists of money are empty where it is hidden.

    `forecast_low_micro` and `forecast_high_micro` hold the end of the month eight times of ten.
    """

    organization = serializers.CharField()
    month = serializers.DateField(format="%Y-%m")
    currency = serializers.CharField()
    zone = serializers.CharField()
    total_micro = serializers.IntegerField(allow_null=True)
    forecast_micro = serializers.IntegerField(allow_null=True)
    forecast_low_micro = serializers.IntegerField(allow_null=True)
    forecast_high_micro = serializers.IntegerField(allow_null=True)
    last_month_same_day_micro = serializers.IntegerField(allow_null=True)
    lost_micro = serializers.IntegerField(
        allow_null=True, help_text="of runs that gave way, since their last checkpoint; list price"
    )
    lost_card_seconds = serializers.FloatField()
    lost_runs = serializers.IntegerField()
    parts = BillPart(many=True)
    groups = BillGroup(many=True)
    wastes = BillWaste(many=True)
    days = BillDay(many=True)


class ReportDoor(Door):
    """Reports made of usage and money; asking changes nothing."""

    queryset = Organization.objects.none()
    serializer_class = TeamReportOut
    takes = {"team": TeamReportIn}
    gives = {"team": (200, TeamReportOut)}

    @action(detail=False, methods=["post"])
    def team(self, request: Request) -> Response:
        """One organization's month: what it is made of, who and what, where money is wasted."""
        given = self.taken()
        home = organization_named(self.standing, given["organization"])
        if home not in homes_of(self.standing):
            raise Forbidden
        first = given["month"] or month_now(home)
        if not FIRST <= first <= month_now(home):
            raise Invalid(month=f"{FIRST:%Y-%m} – {month_now(home):%Y-%m}")
        place = place_in(self.standing, home)
        told = month_report(place=place, first=first, by=given["by"])
        return self.said(_said(told, home, first, money=place.money))


def _said(told: MonthReport, home: Organization, first: date, *, money: bool) -> dict[str, Any]:
    low, high = told.band or (None, None)
    amounts: dict[str, Any] = {
        "total_micro": told.total,
        "forecast_micro": told.forecast,
        "forecast_low_micro": low,
        "forecast_high_micro": high,
        "last_month_same_day_micro": told.last,
        "lost_micro": told.lost.micro,
    }
    parts = [{"account": name, "amount_micro": micro} for name, micro in told.parts.items()]
    days = [{"day": day, "amount_micro": micro} for day, micro in told.days.items()]
    return {
        "organization": home.slug,
        "month": first,
        "currency": home.currency,
        "zone": home.zone,
        **(amounts if money else dict.fromkeys(amounts)),
        "lost_card_seconds": told.lost.card_s,
        "lost_runs": told.lost.runs,
        "parts": parts if money else [],
        "groups": [
            {
                "name": one.name,
                "amount_micro": one.micro if money else None,
                "waste_micro": one.waste_micro if money else None,
                "held_seconds": one.held_us / 1_000_000,
                "used_seconds": one.used_us / 1_000_000,
            }
            for one in told.groups
        ],
        "wastes": told.wastes if money else [],
        "days": days if money else [],
    }
