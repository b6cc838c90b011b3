"""Accelerators."""

from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.clock import now
from pool.lifecycle.cards import CardState
from pool.models import Card
from pool.selectors.telemetry.week import DAYS, card_week
from pool.services.cards import card_cordon, card_uncordon
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.api.door import UID, Listed
from portal.api.fields import Filters, Nothing, Reason


class AbilityOut(serializers.Serializer[Any]):
    """What the node can really keep in one mode of a card."""

    mode = serializers.CharField()
    memory = serializers.CharField(
        help_text="who holds a slice to its memory: hardware, driver, daemon, preload, sampling"
    )
    compute = serializers.CharField(help_text="who holds it to its compute; none: nobody does")
    note = serializers.CharField()
    licence = serializers.CharField(help_text="kind of seat that a slice takes; empty: none")


class CardOut(serializers.ModelSerializer[Card]):
    """One physical card. Unknown is null, never 0."""

    node = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    modes = serializers.ListField(child=serializers.CharField())
    foreign = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="processes on it that the pool did not start, with their owner where known",
    )
    abilities = AbilityOut(
        many=True,
        read_only=True,
        allow_null=True,
        help_text="what the node says it can enforce, mode by mode; null: it says nothing",
    )

    class Meta:
        model = Card
        fields = [
            "uid",
            "uuid",
            "node",
            "index",
            "partition",
            "vendor",
            "model",
            "label",
            "nominal_gb",
            "memory_mib",
            "modes",
            "abilities",
            "domain",
            "numa",
            "strength",
            "tdp_w",
            "state",
            "state_since",
            "state_reason",
            "clean_until",
            "offered",
            "foreign",
        ]


class CardFilters(Filters):
    """Filters of the list."""

    node = serializers.RegexField(f"^{UID}$", required=False, help_text="uid of a node")
    node_name = serializers.CharField(max_length=253, required=False)
    partition = serializers.SlugField(max_length=63, required=False)
    label = serializers.CharField(max_length=80, required=False)  # type: ignore[assignment]
    vendor = serializers.CharField(max_length=16, required=False)
    state = serializers.ChoiceField(choices=[s.value for s in CardState], required=False)


class CardHourOut(serializers.Serializer[Any]):
    """One hour of one weekday (Monday 0). Per cent; null is unknown, never 0."""

    weekday = serializers.IntegerField()
    hour = serializers.IntegerField()
    util = serializers.FloatField(allow_null=True, help_text="mean of all weeks")
    peak = serializers.FloatField(allow_null=True)
    alerts = serializers.IntegerField(help_text="how often an alert about the card began then")


class CardWeekOut(serializers.Serializer[Any]):
    """The 168 hours of a card's week, over the last `days`, in the caller's own zone."""

    days = serializers.IntegerField()
    zone = serializers.CharField()
    hours = CardHourOut(many=True)


class CardDoor(Listed):
    """Cards of the pool; everybody may see what there is. A platform admin takes one out of service
    and back.
    """

    serializer_class = CardOut
    filters = CardFilters
    queryset = Card.objects.none()
    takes = {"cordon": Reason, "uncordon": Nothing}
    gives = {"week": (200, CardWeekOut)}

    def rows(self) -> QuerySet[Card]:
        """All of them, without their inventory text."""
        rows = Card.objects.select_related("node", "partition").defer("facts")
        return rows.annotate(abilities=KeyTransform("abilities", "facts"))

    def narrowed(self, rows: QuerySet[Card], **asked: Any) -> QuerySet[Card]:
        """By node, partition, model, vendor and state."""
        paths = {
            "node": "node__uid",
            "node_name": "node__name",
            "partition": "partition__slug",
        }
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    @action(detail=True, methods=["post"])
    def cordon(self, request: Request, uid: str) -> Response:
        """Nothing new starts on the card; what runs goes on."""
        card = self._managed()
        given = self.taken()
        card_cordon(card=card, actor=self.actor, reason=given["reason"])
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def uncordon(self, request: Request, uid: str) -> Response:
        """Back into service, whatever took it out; the next error takes it out again."""
        card = self._managed()
        self.taken()
        card_uncordon(card=card, actor=self.actor)
        return self.said(self.one())

    @action(detail=True, methods=["get"], pagination_class=None)
    def week(self, request: Request, uid: str) -> Response:
        """How busy each hour of each weekday was, and in which the card was alerted."""
        card: Card = self.one()
        zone = self.user.zone or "UTC"
        hours = card_week(card=card, at=now(), zone=zone)
        return self.said({"days": DAYS, "zone": zone, "hours": hours})

    def _managed(self) -> Card:
        card: Card = self.one()
        guard(self.standing, Verb.NODE_MANAGE)
        return card
