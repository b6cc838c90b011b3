"""Pages by cursor: stable while rows come and go; one query a page whatever the table's size."""

import base64
import binascii
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from portal.keyset import Order, Place, beyond, place_of, place_read, place_text, sorted_rows

PAGE = 50
MOST = 200
PLACED = ("cursor", "page_size")
MOST_CURSOR = 1024


class Pages(BasePagination):
    """`?cursor=&page_size=`: fifty rows unless asked otherwise, two hundred at most.

    Rows come by their key, newest first; a view with `oldest_first` turns that round, and
    `?ordering=` names another order where the view has some.
    """

    page: ClassVar[int] = PAGE
    most: ClassVar[int] = MOST

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """The rows of the page that is asked for.

        Raises:
            ValidationError: no such cursor, or a page size that is no number from 1 to 200.
        """
        self._request = request
        size = read_size(request, page=self.page, most=self.most)
        order: Order | None = getattr(view, "order", None)
        if order is not None:
            return self._sorted(queryset, request, order, size)
        way, place = _read(request.query_params.get("cursor", ""))
        up = bool(getattr(view, "oldest_first", False))
        forward = way != "b"
        ascending = up if forward else not up
        if place is not None:
            queryset = queryset.filter(**{"pk__gt" if ascending else "pk__lt": place})
        rows = list(queryset.order_by("pk" if ascending else "-pk")[: size + 1])
        more, rows = len(rows) > size, rows[:size]
        if not forward:
            rows.reverse()
        later = more if forward else place is not None
        earlier = place is not None if forward else more
        self._next = wrap(f"a{rows[-1].pk}") if rows and later else None
        self._previous = wrap(f"b{rows[0].pk}") if rows and earlier else None
        return rows

    def _sorted(self, queryset: Any, request: Request, order: Order, size: int) -> list[Any]:
        """The page of a list in an order of its own; its cursors are of that order alone."""
        way, place = _read_place(request.query_params.get("cursor", ""), queryset, order)
        back = way == "b"
        rows = sorted_rows(queryset, order, back=back)
        if place is not None:
            rows = beyond(rows, order, place, back=back)
        found = list(rows[: size + 1])
        more, found = len(found) > size, found[:size]
        if back:
            found.reverse()
        later, earlier = (place is not None, more) if back else (more, place is not None)
        ends = (("a", found[-1], later), ("b", found[0], earlier)) if found else ()
        told = [
            wrap(f"{mark}{order.said} {place_text(place_of(row, order))}") if there else None
            for mark, row, there in ends
        ]
        self._next, self._previous = told or (None, None)
        return found

    def get_paginated_response(self, data: Any) -> Response:
        """The page in its frame."""
        around = {"next": self._link(self._next), "previous": self._link(self._previous)}
        return Response({"results": data, **around})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The frame, for OpenAPI."""
        link = {"type": "string", "nullable": True, "format": "uri"}
        return {
            "type": "object",
            "required": ["results", "next", "previous"],
            "properties": {
                "results": schema,
                "next": {**link, "description": "Address of the next page."},
                "previous": {**link, "description": "Address of the page before."},
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """The two parameters, for OpenAPI."""
        return [
            {
                "name": "cursor",
                "in": "query",
                "required": False,
                "description": "Place in the list, from `next` or `previous`.",
                "schema": {"type": "string", "maxLength": MOST_CURSOR},
            },
            {
                "name": "page_size",
                "in": "query",
                "required": False,
                "description": "Rows on a page.",
                "schema": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": self.most,
                    "default": self.page,
                },
            },
        ]

    def _link(self, cursor: str | None) -> str | None:
        if cursor is None:
            return None
        query = self._request.query_params.copy()
        query["cursor"] = cursor
        path = self._request.build_absolute_uri(self._request.path)
        return f"{path}?{urlencode(list(query.items()))}"


def read_size(request: Request, *, page: int = PAGE, most: int = MOST) -> int:
    """How many rows the caller wants on a page.

    Raises:
        ValidationError: no number from 1 to `most`.
    """
    text = request.query_params.get("page_size", "")
    if not text:
        return page
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= most):
        raise ValidationError({"page_size": [_("A number from 1 to %(most)s.") % {"most": most}]})
    return int(text)


def wrap(place: str) -> str:
    """A place in a list, as an opaque word for an address."""
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def unwrap(cursor: str) -> str:
    """The place that a cursor names.

    Raises:
        ValidationError: no cursor of ours.
    """
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (UnicodeError, binascii.Error) as bad:
        raise ValidationError({"cursor": [_("No such cursor.")]}) from bad


def _read_place(cursor: str, rows: QuerySet[Any], order: Order) -> tuple[str, Place | None]:
    """Which way from where.

    Raises:
        ValidationError: no cursor of ours, or one of another order.
    """
    if not cursor:
        return "a", None
    text = unwrap(cursor[: MOST_CURSOR + 1])
    said, _space, place = text[1:].partition(" ")
    try:
        if text[:1] not in {"a", "b"} or said != order.said:
            raise ValueError("another order")
        return text[:1], place_read(place, rows, order)
    except ValueError as odd:
        raise ValidationError({"cursor": [_("No such cursor.")]}) from odd


def _read(cursor: str) -> tuple[str, int | None]:
    if not cursor:
        return "a", None
    text = unwrap(cursor)
    way, place = text[:1], text[1:]
    if way not in {"a", "b"} or not (place.isascii() and place.isdigit()) or len(place) > 18:
        raise ValidationError({"cursor": [_("No such cursor.")]})
    return way, int(place)
