"""Measured values, as they were stored. Unknown is null, never 0."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import NotYours
from pool.models import Attempt, Card, Sample
from pool.models.samples import WIDE
from pool.selectors.workloads import workload_list
from portal.api.door import UID, Listing
from portal.api.fields import Filters
from portal.api.pagination import Pages, read_size, unwrap, wrap

LONGEST = timedelta(days=31)


class SampleOut(serializers.ModelSerializer[Sample]):
    """One reading of a card, or of one slice in it. Per cent, MiB, MiB/s, watts, °C."""

    card = serializers.CharField()
    workload = serializers.CharField(allow_null=True)
    attempt = serializers.IntegerField(allow_null=True)
    slice = serializers.BooleanField(help_text="Of one slice (true) or of the whole card.")

    class Meta:
        model = Sample
        fields = ["at", "seconds", "card", "slice", "workload", "attempt", *WIDE, "fidelity"]


class SampleFilters(Filters):
    """A workload or a card must be named; the window is at most 31 days."""

    workload = serializers.RegexField(f"^{UID}$", required=False)
    card = serializers.RegexField(f"^{UID}$", required=False)
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """One of the two, and a window that makes sense.

        Raises:
            ValidationError: otherwise.
        """
        if ("workload" in attrs) == ("card" in attrs):
            raise serializers.ValidationError({"workload": [_("Name a workload or a card.")]})
        until = attrs.get("until", datetime.max.replace(tzinfo=UTC))
        since = attrs.get("since", datetime.min.replace(tzinfo=UTC))
        if since > until or ("since" in attrs and "until" in attrs and until - since > LONGEST):
            raise serializers.ValidationError({"until": [_("At most 31 days after `since`.")]})
        return attrs


class SamplePages(Pages):
    """By moment, card and slice: raw rows have no number of their own."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """The rows after the cursor, oldest first; the page before is not offered."""
        self._request = request
        self._previous = None
        size = read_size(request)
        cursor = request.query_params.get("cursor", "")
        if cursor:
            queryset = queryset.filter(_after(cursor))
        rows = list(queryset.order_by("at", "card_id", "part")[: size + 1])
        more, rows = len(rows) > size, rows[:size]
        last = rows[-1] if more else None
        self._next = None
        if last is not None:
            stamp = round((last.at - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1e6)
            self._next = wrap(f"s{stamp}.{last.card_id}.{last.part}")
        return rows


class SampleDoor(Listing):
    """Readings of one's workloads, and of whole cards."""

    sortable = False
    serializer_class = SampleOut
    filters = SampleFilters
    pagination_class = SamplePages
    queryset = Sample.objects.none()

    def list(self, request: Request) -> Response:
        """One page, oldest first."""
        named, rows = self._wanted()
        rows = rows.annotate(part=Coalesce("slice_id", 0))
        window = {"since": "at__gte", "until": "at__lt"}
        rows = rows.filter(**{window[k]: v for k, v in self.asked.items() if k in window})
        page: list[Any] = list(self.paginate_queryset(rows) or [])
        for row in page:
            card, workload, attempt = named(row)
            row.card, row.workload, row.attempt = card, workload, attempt
            row.slice = row.slice_id is not None
        return self.get_paginated_response(SampleOut(page, many=True).data)

    def _wanted(self) -> tuple[Any, QuerySet[Sample]]:
        """How to name a row, and the rows.

        Raises:
            NotYours: no such card, or no workload that the caller may read.
        """
        if "card" in self.asked:
            card = Card.objects.filter(uid=self.asked["card"]).first()
            if card is None:
                raise NotYours
            rows = Sample.objects.filter(card_id=card.pk, slice_id=None)
            return (lambda row: (card.uid, None, None)), rows
        workload = workload_list(standing=self.standing).filter(uid=self.asked["workload"]).first()
        if workload is None:
            raise NotYours
        numbers = dict(Attempt.objects.filter(workload=workload).values_list("pk", "number"))
        rows = Sample.objects.filter(attempt_id__in=numbers)
        cards = dict(
            Card.objects.filter(holds__placement__attempt__in=numbers).values_list("pk", "uid")
        )
        return (
            lambda row: (cards.get(row.card_id), workload.uid, numbers.get(row.attempt_id)),
            rows,
        )


def _after(cursor: str) -> Q:
    text = unwrap(cursor)
    parts = text[1:].split(".")
    if text[:1] != "s" or len(parts) != 3 or not all(p.isdigit() and len(p) < 18 for p in parts):
        raise serializers.ValidationError({"cursor": [_("No such cursor.")]})
    stamp, card, part = (int(p) for p in parts)
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=stamp)
    later = Q(card_id__gt=card) | Q(card_id=card, part__gt=part)
    return Q(at__gt=at) | Q(at=at) & later
