"""What a person should know about, and what they do with it."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.clock import now
from pool.lifecycle.alerts import AlertState
from pool.models import Alert
from pool.selectors.alerts import alert_list, alert_project
from pool.services.alerting.acts import alert_let_go, alert_take
from pool.services.alerting.people import owners_tell
from pool.services.alerting.received import alerts_received
from pool.services.alerting.silences import silence_make
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, FreeJSON, Given, Nothing
from portal.api.v1.alerting.shapes import SilenceOut

LONGEST_SILENCE_S = 90 * 86_400


class AlertOut(serializers.ModelSerializer[Alert]):
    """One condition from first seen to resolved. `value` is the last number, in the rule's unit.

    `rule` null: the pool itself raised it. `project` null: it is the pool's.
    """

    detail = serializers.DictField()
    rule = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)

    class Meta:
        model = Alert
        fields = [
            "uid",
            "family",
            "severity",
            "subject",
            "title",
            "detail",
            "state",
            "state_since",
            "first_seen_at",
            "fired_at",
            "last_seen_at",
            "rule",
            "project",
            "value",
            "threshold",
            "flaps",
            "taken_by",
            "note",
        ]


class AlertFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in AlertState], required=False)
    family = serializers.CharField(max_length=12, required=False)
    severity = serializers.CharField(max_length=12, required=False)
    subject = serializers.CharField(max_length=80, required=False)
    rule = serializers.SlugField(max_length=63, required=False)
    project = serializers.SlugField(max_length=63, required=False)


class TakeIn(Given):
    """Who takes an alert may say what they do about it."""

    note = serializers.CharField(max_length=400, required=False, allow_blank=True, default="")


class QuietIn(Given):
    """How long its word stays in the house, in seconds, and why."""

    seconds = serializers.IntegerField(min_value=60, max_value=LONGEST_SILENCE_S)
    reason = serializers.CharField(max_length=400)


class TakenIn(serializers.Serializer[Any]):
    """How many alerts began and ended by a message."""

    began = serializers.IntegerField()
    ended = serializers.IntegerField()


class ToldOut(serializers.Serializer[Any]):
    """How many people were told."""

    told = serializers.IntegerField()


class AlertmanagerIn(Given):
    """The body that an Alertmanager posts to a webhook receiver (version 4)."""

    version = serializers.CharField(max_length=8, required=False)
    groupKey = serializers.CharField(max_length=2000, required=False, allow_blank=True)  # noqa: N815
    truncatedAlerts = serializers.IntegerField(required=False)  # noqa: N815
    status = serializers.CharField(max_length=16, required=False)
    receiver = serializers.CharField(max_length=200, required=False, allow_blank=True)
    groupLabels = FreeJSON(required=False)  # noqa: N815
    commonLabels = FreeJSON(required=False)  # noqa: N815
    commonAnnotations = FreeJSON(required=False)  # noqa: N815
    externalURL = serializers.CharField(max_length=2000, required=False, allow_blank=True)  # noqa: N815
    alerts = serializers.ListField(child=FreeJSON(), max_length=500)


class AlertDoor(Listed):
    """Alerts about work and teams that the caller may read; a platform admin sees all."""

    serializer_class = AlertOut
    filters = AlertFilters
    queryset = Alert.objects.none()
    takes = {
        "acknowledge": TakeIn,
        "release": Nothing,
        "silence": QuietIn,
        "tell_owners": Nothing,
        "receive": AlertmanagerIn,
    }
    gives = {
        "silence": (201, SilenceOut),
        "tell_owners": (200, ToldOut),
        "receive": (200, TakenIn),
    }

    def rows(self) -> QuerySet[Alert]:
        """The caller's own."""
        return alert_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Alert], **asked: Any) -> QuerySet[Alert]:
        """By column, rule and team."""
        paths = {"rule": "rule__slug", "project": "project__slug"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    @action(detail=True, methods=["post"])
    def acknowledge(self, request: Request, uid: str) -> Response:
        """Take care of it."""
        row = self._theirs()
        return self.said(alert_take(alert=row, actor=self.actor, **self.taken()))

    @action(detail=True, methods=["post"])
    def release(self, request: Request, uid: str) -> Response:
        """Let it go again: it fires as before."""
        row = self._theirs()
        self.taken()
        return self.said(alert_let_go(alert=row, actor=self.actor))

    @action(detail=True, methods=["post"])
    def silence(self, request: Request, uid: str) -> Response:
        """Keep the word of this rule about this thing in the house for a while."""
        row = self._theirs()
        given = self.taken()
        made = silence_make(
            rule=row.rule,
            subject=row.subject,
            project=alert_project(row),
            ends_at=now() + timedelta(seconds=given["seconds"]),
            reason=given["reason"],
            actor=self.actor,
        )
        return self.said(made)

    @action(detail=True, methods=["post"], url_path="tell-owners")
    def tell_owners(self, request: Request, uid: str) -> Response:
        """Tell the owners of all work on the card or node."""
        row = self._theirs()
        self.taken()
        return self.said({"told": owners_tell(alert=row)})

    @action(detail=False, methods=["post"])
    def receive(self, request: Request) -> Response:
        """Alerts of an Alertmanager, which posts here as to any webhook receiver."""
        self.allow(Verb.ALERT_MANAGE)
        began, ended = alerts_received(alerts=self.taken()["alerts"], actor=self.actor)
        return self.said({"began": began, "ended": ended})

    def _theirs(self) -> Alert:
        """The row, if the caller may act on it."""
        row: Alert = self.one()
        self.allow(Verb.ALERT_ACT, alert_project(row))
        return row
