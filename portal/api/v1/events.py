"""What happened."""

from typing import Any

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Forbidden
from pool.models import Event
from pool.selectors.history import event_list
from portal.access.audit import audit_export, audit_narrowed
from portal.access.guards import anywhere
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters


class EventOut(serializers.ModelSerializer[Event]):
    """One fact. Events are never changed or removed."""

    data = serializers.DictField()  # type: ignore[assignment]

    class Meta:
        model = Event
        fields = [
            "id",
            "kind",
            "subject",
            "actor_kind",
            "actor_label",
            "request_id",
            "data",
            "at",
        ]


class EventFilters(Filters):
    """Filters of the list. `after` leaves events with a greater number."""

    kind = serializers.CharField(
        max_length=60, required=False, help_text="a kind, or its beginning: workload."
    )
    subject = serializers.CharField(max_length=80, required=False, help_text="noun:uid, or a uid")
    actor = serializers.CharField(max_length=160, required=False, help_text="who did it")
    text = serializers.CharField(max_length=80, required=False, help_text="inside the details")
    request_id = serializers.CharField(max_length=64, required=False)
    since = serializers.DateTimeField(required=False, help_text="from this moment on")
    until = serializers.DateTimeField(required=False, help_text="before this moment")
    after = serializers.IntegerField(min_value=0, max_value=2**62, required=False)


class ExportIn(EventFilters):
    """What to take away: the filters of the list, and the format."""

    format = serializers.ChoiceField(choices=["csv", "json"], required=False, default="csv")


class EventDoor(Listed):
    """Events that the caller may read, newest first."""

    serializer_class = EventOut
    filters = EventFilters
    queryset = Event.objects.none()
    takes = {"export": ExportIn}
    gives = {"export": (200, None)}
    lookup_field = "id"
    lookup_value_regex = r"[0-9]{1,18}"

    def rows(self) -> QuerySet[Event]:
        """The caller's own."""
        return event_list(standing=self.standing, user=self.user)

    def narrowed(self, rows: QuerySet[Event], **asked: Any) -> QuerySet[Event]:
        """By kind, subject, who, words, request id, time and number."""
        return audit_narrowed(rows, asked)

    @action(detail=False, methods=["post"])
    def export(self, request: Request) -> HttpResponseBase:
        """The whole list as CSV, or as JSON with an event a line, streamed. Is an event itself."""
        given = self.taken()
        shape = given.pop("format")
        if not anywhere(self.standing, Verb.EVENT_SEE):
            raise Forbidden
        rows = self.narrowed(self.rows(), **given)
        return audit_export(rows, shape=shape, user=self.user, actor=self.actor, asked=given)

    def retrieve(self, request: Request, id: str) -> Response:  # noqa: A002
        """One event."""
        return self.said(self.one())
