"""Recorded work: periods of the books and files; what what-ifs replay."""

from datetime import UTC
from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Forbidden
from pool.lifecycle.studies import TraceSource
from pool.models import Trace
from pool.rules.whatif.files import SHAPES
from pool.selectors.whatif.studies import teams_of, trace_list
from pool.services.whatif.traces import trace_delete, trace_of_books, trace_of_file
from portal.access.guards import anywhere, own
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.pages.whatif.reach import home_of


class RecordIn(Given):
    """A period (`since`, `until`) of the books, or a file: `name`, `text_format`, `text`."""

    since = serializers.DateTimeField(required=False, allow_null=True, default=None)
    until = serializers.DateTimeField(required=False, allow_null=True, default=None)
    name = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)
    text_format = serializers.ChoiceField(choices=SHAPES, required=False, default="csv")
    text = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        help_text="CSV with a header, or the output of sacct --parsable2; at most 10 MiB.",
    )


class RecordOut(serializers.ModelSerializer[Trace]):
    """One record. `jobs`, `teams` and `digest` of a period are known once it was replayed."""

    owner = serializers.CharField(source="owner.username")
    text_format = serializers.CharField(source="shape")
    teams = serializers.ListField(child=serializers.CharField())
    left_out = serializers.DictField(child=serializers.IntegerField())

    def to_representation(self, instance: Trace) -> dict[str, Any]:
        """Of the books' teams only those that the caller may read; a file has its own."""
        told = super().to_representation(instance)
        seen = self.context["view"].seen
        if seen is not None and instance.source == TraceSource.BOOKS:
            told["teams"] = [team for team in told["teams"] if team in seen]
        return told

    class Meta:
        model = Trace
        fields = [
            "uid",
            "name",
            "source",
            "text_format",
            "owner",
            "since",
            "until",
            "jobs",
            "teams",
            "left_out",
            "digest",
            "taken_at",
            "created_at",
        ]


class RecordFilters(Filters):
    """Filters of the list."""

    source = serializers.ChoiceField(  # type: ignore[assignment]
        choices=["books", "file"], required=False
    )


class RecordDoor(Listed):
    """For those who plan capacity. A file is judged line by line: one wrong line refuses it."""

    serializer_class = RecordOut
    queryset = Trace.objects.none()
    filters = RecordFilters
    takes = {"create": RecordIn}
    gives = {"create": (status.HTTP_201_CREATED, RecordOut), "destroy": (204, None)}

    def rows(self) -> QuerySet[Trace]:
        """One's own, those of one's organizations, and what readable what-ifs replay."""
        return trace_list(standing=self.standing)

    @cached_property
    def seen(self) -> frozenset[str] | None:
        """The teams that the caller may read; None is all. One query a call."""
        return teams_of(standing=self.standing)

    def create(self, request: Request) -> Response:
        """Keep a period or a file; a period is read when it is first replayed."""
        if not anywhere(self.standing, Verb.CAPACITY_PLAN):
            raise Forbidden
        given = self.taken()
        words: dict[str, Any] = {
            "user": self.user,
            "organization": home_of(self.standing),
            "actor": self.actor,
        }
        if given["since"] is not None and given["until"] is not None:
            since, until = (given[name].astimezone(UTC) for name in ("since", "until"))
            return self.said(trace_of_books(since=since, until=until, **words))
        file = {"name": given["name"], "text": given["text"], "shape": given["text_format"]}
        return self.said(trace_of_file(**file, **words))

    def destroy(self, request: Request, uid: str) -> Response:
        """One's own record that nothing replays any more."""
        trace_delete(trace=own(self.standing, self.one()), actor=self.actor)
        return self.said(None)
