"""What happened."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.events import EventKind
from pool.models import Event
from pool.selectors.history import event_list
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

    kind = serializers.ChoiceField(choices=[k.value for k in EventKind], required=False)
    subject = serializers.CharField(max_length=80, required=False, help_text="noun:uid")
    request_id = serializers.CharField(max_length=64, required=False)
    after = serializers.IntegerField(min_value=0, max_value=2**62, required=False)


class EventDoor(Listed):
    """Events that the caller may read, newest first."""

    serializer_class = EventOut
    filters = EventFilters
    queryset = Event.objects.none()
    lookup_field = "id"
    lookup_value_regex = r"[0-9]{1,18}"

    def rows(self) -> QuerySet[Event]:
        """The caller's own."""
        return event_list(standing=self.standing, user=self.user)

    def narrowed(self, rows: QuerySet[Event], **asked: Any) -> QuerySet[Event]:
        """By kind, subject, request id, and number."""
        paths = {"after": "id__gt"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    def retrieve(self, request: Request, id: str) -> Response:  # noqa: A002
        """One event."""
        return self.said(self.one())
