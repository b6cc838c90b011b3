"""Whether to buy or to use better what is there, with the figures behind it."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Forbidden, Invalid
from pool.models import Project
from pool.rules.planning.scatter import Corner
from pool.rules.planning.size import Way, size_advice
from pool.rules.planning.verdict import Choice, TeamUse
from portal.api.door import Door
from portal.api.fields import Given
from portal.pages.planning.figures import (
    LONGEST,
    corners_for,
    models,
    period_for,
    room_by_day,
    sees_capacity,
    verdict_for,
)
from portal.pages.planning.index import sentence


class TeamUseOut(serializers.Serializer[Any]):
    """One project over four weeks: cards in the mean, use in thousandths, waits in seconds."""

    slug = serializers.CharField()
    name = serializers.CharField()
    held_cards = serializers.FloatField()
    used_cards = serializers.FloatField()
    use_milli = serializers.IntegerField(allow_null=True)
    spare_cards = serializers.IntegerField()
    started = serializers.IntegerField()
    p50_wait_s = serializers.FloatField(allow_null=True)
    p95_wait_s = serializers.FloatField(allow_null=True)


class VerdictOut(serializers.Serializer[Any]):
    """The verdict. `spare_cards` could be given back, `wanted_cards` would have to be bought.

    `advice` is what a pool of this size is worth having; from `next_advice_at` cards on it is more.
    """

    choice = serializers.ChoiceField(choices=[one.value for one in Choice])
    sentence = serializers.CharField()
    missing_days = serializers.IntegerField()
    spare_cards = serializers.IntegerField()
    wanted_cards = serializers.IntegerField()
    days = serializers.FloatField()
    cards = serializers.FloatField()
    use_milli = serializers.IntegerField(allow_null=True)
    known_milli = serializers.IntegerField()
    target_s = serializers.IntegerField()
    spare = serializers.ListField(child=serializers.CharField())
    busy = serializers.ListField(child=serializers.CharField())
    advice = serializers.ChoiceField(choices=[one.value for one in Way])
    next_advice_at = serializers.IntegerField(allow_null=True)
    teams = TeamUseOut(many=True)


class CornerOut(serializers.Serializer[Any]):
    """One template: memory and compute used of what was held, in thousandths."""

    template = serializers.CharField()
    name = serializers.CharField()
    memory_milli = serializers.IntegerField(allow_null=True)
    compute_milli = serializers.IntegerField(allow_null=True)
    card_hours = serializers.FloatField()
    corner = serializers.ChoiceField(choices=[one.value for one in Corner])


class CornersOut(serializers.Serializer[Any]):
    """Templates, the heaviest first."""

    results = CornerOut(many=True)


class ModelDemandOut(serializers.Serializer[Any]):
    """One card model: cards wanted in each week (95th percentile of its hours), oldest first.

    `growth` is cards a week; the line passes what is there in `passes_in` weeks, null is not seen.
    """

    card_model = serializers.CharField()
    cards = serializers.IntegerField()
    weeks = serializers.ListField(child=serializers.FloatField())
    growth = serializers.FloatField(allow_null=True)
    passes_in = serializers.IntegerField(allow_null=True)


class DemandOut(serializers.Serializer[Any]):
    """Card models, the most wanted first."""

    results = ModelDemandOut(many=True)


class RoomDayOut(serializers.Serializer[Any]):
    """One UTC day, in cards in the mean: held, free and whole, free in pieces, stranded.

    `free_milli` is what of the free room lay in pieces. Null is not known: nothing was free, or the
    ledger has not come so far.
    """

    day = serializers.DateField(source="pieces.day")
    held = serializers.FloatField(source="pieces.held")
    whole = serializers.FloatField(source="pieces.whole")
    in_pieces = serializers.FloatField(source="pieces.in_pieces")
    free_milli = serializers.IntegerField(source="pieces.free_milli", allow_null=True)
    stranded = serializers.FloatField(allow_null=True)


class RoomOut(serializers.Serializer[Any]):
    """The full days of the last four weeks, oldest first."""

    results = RoomDayOut(many=True)


class PeriodOut(serializers.Serializer[Any]):
    """One period: cards held in the mean, use in thousandths, waits in seconds."""

    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    card_hours = serializers.FloatField()
    mean_cards = serializers.FloatField()
    use_milli = serializers.IntegerField(allow_null=True)
    known_milli = serializers.IntegerField()
    started = serializers.IntegerField()
    p50_wait_s = serializers.FloatField(allow_null=True)
    p95_wait_s = serializers.FloatField(allow_null=True)


class PeriodIn(Given):
    """The period, at most a year."""

    since = serializers.DateTimeField()
    until = serializers.DateTimeField()


class CapacityDoor(Door):
    """For those who run the platform or an organization; figures are made once an hour."""

    queryset = Project.objects.none()
    serializer_class = VerdictOut
    takes = {"period": PeriodIn}
    gives = {
        "verdict": (200, VerdictOut),
        "corners": (200, CornersOut),
        "demand": (200, DemandOut),
        "period": (200, PeriodOut),
        "room": (200, RoomOut),
    }

    def _enter(self) -> None:
        if not sees_capacity(self.standing):
            raise Forbidden

    @action(detail=False, methods=["get"])
    def verdict(self, request: Request) -> Response:
        """Buy, optimise first, or leave it; below seven days of readings no verdict."""
        self._enter()
        evidence, told = verdict_for(self.standing)
        size = size_advice(round(evidence.cards))
        return self.said(
            {
                "choice": told.choice.value,
                "sentence": sentence(told),
                "missing_days": told.missing_days,
                "spare_cards": told.spare_cards,
                "wanted_cards": told.wanted_cards,
                "days": evidence.days,
                "cards": evidence.cards,
                "use_milli": evidence.use_milli,
                "known_milli": evidence.known_milli,
                "target_s": evidence.target_s,
                "advice": size.way.value,
                "next_advice_at": size.next_at,
                "spare": [team.slug for team in told.spare],
                "busy": [team.slug for team in told.busy],
                "teams": [_team(team) for team in evidence.teams],
            }
        )

    @action(detail=False, methods=["get"])
    def corners(self, request: Request) -> Response:
        """Memory against compute by template, and what each calls for."""
        self._enter()
        dots = corners_for(self.standing)
        told = [asdict(dot) | {"template": dot.key, "corner": dot.corner.value} for dot in dots]
        return self.said({"results": told})

    @action(detail=False, methods=["get"])
    def demand(self, request: Request) -> Response:
        """Weekly demand by card model, and when it passes what is there."""
        self._enter()
        told = [
            {
                "card_model": one.demand.label,
                "cards": one.demand.cards,
                "weeks": list(one.demand.weeks),
                "growth": one.trend.growth if one.trend else None,
                "passes_in": one.trend.passes_in if one.trend else None,
            }
            for one in models()
        ]
        return self.said({"results": told})

    @action(detail=False, methods=["get"])
    def room(self, request: Request) -> Response:
        """How much lay free in pieces, and how much was stranded, day by day."""
        self._enter()
        return self.said({"results": room_by_day()})

    @action(detail=False, methods=["post"])
    def period(self, request: Request) -> Response:
        """The figures of one period; ask twice to compare two."""
        self._enter()
        since, until = self._span()
        return self.said(asdict(period_for(self.standing, since, until)))

    def _span(self) -> tuple[datetime, datetime]:
        given = self.taken()
        since, until = (given[name].astimezone(UTC) for name in ("since", "until"))
        if not since < until <= since + LONGEST:
            raise Invalid(until=_("A period ends after it begins and is no longer than a year."))
        return since, until


def _team(team: TeamUse) -> dict[str, Any]:
    return asdict(team) | {"used_cards": team.used_cards, "spare_cards": team.spare_cards}
