"""How alert rules, silences, channels, routes and deliveries read over REST."""

from typing import Any

from rest_framework import serializers

from pool.models import AlertChannel, AlertDelivery, AlertRoute, AlertRule, AlertSilence
from pool.rules.alerting.metrics import METRICS


class RuleOut(serializers.ModelSerializer[AlertRule]):
    """One rule. Thresholds are in `unit`; times in seconds."""

    unit = serializers.SerializerMethodField()

    class Meta:
        model = AlertRule
        fields = [
            *("uid", "slug", "name", "family", "severity", "metric", "unit", "scope", "aggregate"),
            *("window_seconds", "side", "threshold", "clear_threshold", "for_seconds"),
            *("clear_seconds", "held_only", "enabled", "built_in", "looked_at", "changed_at"),
        ]

    def get_unit(self, row: AlertRule) -> str:
        """Of the metric."""
        return METRICS[row.metric].unit


class SilenceOut(serializers.ModelSerializer[AlertSilence]):
    """What is kept in the house until when, and why. Empty and null parts match everything."""

    rule = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    by = serializers.CharField(source="by_label")

    class Meta:
        model = AlertSilence
        fields = [
            *("uid", "rule", "subject", "family", "severity", "project", "starts_at", "ends_at"),
            *("ended_at", "reason", "by"),
        ]


class ChannelOut(serializers.ModelSerializer[AlertChannel]):
    """One way out. Of an address only the host is shown, of a key nothing."""

    class Meta:
        model = AlertChannel
        fields = [
            *("uid", "name", "kind", "target", "enabled", "created_at", "tested_at"),
            "test_error",
        ]


class RouteOut(serializers.ModelSerializer[AlertRoute]):
    """Which alerts take which channel when. Days from Monday 0; minutes of the day in `zone`."""

    channel = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    days = serializers.ListField(child=serializers.IntegerField())
    closed_dates = serializers.ListField(child=serializers.DateField())

    class Meta:
        model = AlertRoute
        fields = [
            *("uid", "channel", "family", "severity", "project", "days", "start_minute"),
            *("end_minute", "zone", "closed_dates", "enabled"),
        ]


class DeliveryOut(serializers.ModelSerializer[AlertDelivery]):
    """One word of one alert on its way. `given_up_at` is set on dead letters."""

    alert = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    channel = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)

    class Meta:
        model = AlertDelivery
        fields = [
            *("uid", "alert", "channel", "word", "made_at", "due_at", "waits_for", "tries"),
            *("sent_at", "given_up_at", "dropped_at", "error"),
        ]


class FiringOut(serializers.Serializer[Any]):
    """One alert that would have been."""

    subject = serializers.CharField()
    name = serializers.CharField()
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True)
    worst = serializers.FloatField()


class BackTestOut(serializers.Serializer[Any]):
    """What the rule would have done. `step_s` is the window it was judged by, `things` how many
    things were judged; `refused` says why there is no answer: not_kept or too_much.
    """

    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    step_s = serializers.IntegerField()
    things = serializers.IntegerField()
    refused = serializers.CharField()
    fired = serializers.SerializerMethodField()
    firings = serializers.SerializerMethodField()

    def get_fired(self, found: Any) -> int:
        """How often."""
        return len(found.firings)

    def get_firings(self, found: Any) -> list[dict[str, Any]]:
        """The first 200."""
        return list(FiringOut(found.firings[:200], many=True).data)
