"""Channels, routes and deliveries: for those who run the pool."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import NotYours
from pool.models import AlertChannel, AlertDelivery, AlertRoute
from pool.rules.alerting.terms import ChannelKind, Family, Severity
from pool.services.alerting.ways import (
    channel_change,
    channel_make,
    channel_remove,
    delivery_again,
    route_change,
    route_make,
    route_remove,
)
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given, Nothing
from portal.api.v1.alerting.shapes import ChannelOut, DeliveryOut, RouteOut
from portal.api.v1.references import project_named
from portal.notices.channels.sender import channel_test

EVERY_DAY = [0, 1, 2, 3, 4, 5, 6]


class ChannelPart(Given):
    """Another address, key, or switch. `to` is for mail, `url` and `secret` for all others."""

    url = serializers.CharField(max_length=800, required=False)
    secret = serializers.CharField(max_length=200, required=False, allow_blank=True)
    to = serializers.CharField(max_length=1000, required=False)
    enabled = serializers.BooleanField(required=False)


class ChannelIn(Given):
    """A new way out. A webhook's secret has at least 16 characters; the chats' are optional."""

    name = serializers.CharField(max_length=120)
    kind = serializers.ChoiceField(choices=[k.value for k in ChannelKind if k != "portal"])
    url = serializers.CharField(max_length=800, required=False, default="", allow_blank=True)
    secret = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)
    to = serializers.CharField(max_length=1000, required=False, default="", allow_blank=True)


class ChannelFilters(Filters):
    """Filters of the list."""

    kind = serializers.ChoiceField(choices=[k.value for k in ChannelKind], required=False)


class AlertChannelDoor(Listed):
    """The ways out of the house."""

    serializer_class = ChannelOut
    filters = ChannelFilters
    queryset = AlertChannel.objects.none()
    takes = {"create": ChannelIn, "partial_update": ChannelPart, "test": Nothing}
    gives = {"create": (201, ChannelOut), "destroy": (204, None)}

    def rows(self) -> QuerySet[AlertChannel]:
        """All, for those who run the pool; 403 for everybody else."""
        self.allow(Verb.ALERT_MANAGE)
        return AlertChannel.objects.order_by("-pk")

    def create(self, request: Request) -> Response:
        """A new one; routes lead to it."""
        self.allow(Verb.ALERT_MANAGE)
        return self.said(channel_make(actor=self.actor, **self.taken()))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Another address, key, or switch."""
        return self.said(channel_change(channel=self.one(), actor=self.actor, **self.taken()))

    def destroy(self, request: Request, uid: str) -> Response:
        """Gone with its routes and what was on it."""
        row = self.one()
        channel_remove(channel=row, actor=self.actor)
        return self.said(row)

    @action(detail=True, methods=["post"])
    def test(self, request: Request, uid: str) -> Response:
        """Send a test now; `test_error` says what was wrong."""
        row = self.one()
        self.taken()
        channel_test(channel=row, actor=self.actor)
        return self.said(self.rows().get(pk=row.pk))


class RoutePart(Given):
    """Values to change; those left out stay. A project of null means every team."""

    family = serializers.ChoiceField(
        choices=[f.value for f in Family], required=False, allow_blank=True
    )
    severity = serializers.ChoiceField(
        choices=[s.value for s in Severity], required=False, allow_blank=True
    )
    project = serializers.SlugField(max_length=63, required=False, allow_null=True)
    days = serializers.ListField(child=serializers.IntegerField(), max_length=7, required=False)
    start_minute = serializers.IntegerField(min_value=0, max_value=1440, required=False)
    end_minute = serializers.IntegerField(min_value=0, max_value=1440, required=False)
    zone = serializers.CharField(max_length=64, required=False)
    closed_dates = serializers.ListField(
        child=serializers.DateField(), max_length=400, required=False
    )
    enabled = serializers.BooleanField(required=False)


class RouteIn(RoutePart):
    """A new route to a channel, by its name."""

    channel = serializers.CharField(max_length=120)


class AlertRouteDoor(Listed):
    """Which alerts take which channel when."""

    serializer_class = RouteOut
    queryset = AlertRoute.objects.none()
    takes = {"create": RouteIn, "partial_update": RoutePart}
    gives = {"create": (201, RouteOut), "destroy": (204, None)}

    def rows(self) -> QuerySet[AlertRoute]:
        """All, for those who run the pool; 403 for everybody else."""
        self.allow(Verb.ALERT_MANAGE)
        return AlertRoute.objects.select_related("channel", "project").order_by("-pk")

    def create(self, request: Request) -> Response:
        """A new one; it holds from the next alert on."""
        self.allow(Verb.ALERT_MANAGE)
        given = self._named()
        channel = AlertChannel.objects.filter(name=given.pop("channel")).first()
        if channel is None:
            raise NotYours
        given.setdefault("days", EVERY_DAY)
        return self.said(route_make(channel=channel, actor=self.actor, **given))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Other values."""
        return self.said(route_change(route=self.one(), actor=self.actor, **self._named()))

    def destroy(self, request: Request, uid: str) -> Response:
        """Nothing takes it any more."""
        row = self.one()
        route_remove(route=row, actor=self.actor)
        return self.said(row)

    def _named(self) -> dict[str, Any]:
        given = self.taken()
        if given.get("project") is not None:
            given["project"] = project_named(self.standing, given["project"])
        return given


class DeliveryFilters(Filters):
    """Filters of the list. `dead` true: only those that were given up."""

    alert = serializers.CharField(max_length=48, required=False)
    dead = serializers.BooleanField(required=False, allow_null=True, default=None)


class AlertDeliveryDoor(Listed):
    """What became of the words of alerts."""

    serializer_class = DeliveryOut
    filters = DeliveryFilters
    queryset = AlertDelivery.objects.none()
    takes = {"retry": Nothing}

    def rows(self) -> QuerySet[AlertDelivery]:
        """All, for those who run the pool; 403 for everybody else."""
        self.allow(Verb.ALERT_MANAGE)
        return AlertDelivery.objects.select_related("alert", "channel").order_by("-pk")

    def narrowed(self, rows: QuerySet[AlertDelivery], **asked: Any) -> QuerySet[AlertDelivery]:
        """By alert, or dead letters alone."""
        if asked.get("alert"):
            rows = rows.filter(alert__uid=asked["alert"])
        if asked.get("dead") is not None:
            rows = rows.filter(given_up_at__isnull=not asked["dead"])
        return rows

    @action(detail=True, methods=["post"])
    def retry(self, request: Request, uid: str) -> Response:
        """A dead letter tries its luck again at once."""
        row = self.one()
        self.taken()
        delivery_again(delivery=row, actor=self.actor)
        return self.said(self.rows().get(pk=row.pk))
