"""A list as a CSV file: all rows that the filters leave, streamed, in the list's own columns."""

import csv
import io
import json
from collections.abc import AsyncIterator
from datetime import UTC
from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.db.models import Model, QuerySet
from django.http import StreamingHttpResponse
from rest_framework.serializers import BaseSerializer, Serializer

from pool.clock import now
from pool.sheets import plain_cell
from portal.access.streams import given_back
from portal.keyset import Order, beyond, place_of, sorted_rows

if TYPE_CHECKING:
    from portal.api.door import Listing

CHUNK = 500


def list_file(
    door: "Listing", rows: QuerySet[Any], shape: type[BaseSerializer[Any]]
) -> StreamingHttpResponse:
    """The list as a file, five hundred rows at a time: a long one costs no more memory."""
    name = f"{door.basename}-{now().astimezone(UTC):%Y%m%d-%H%M%S}.csv"
    order = door.order or Order("created", "pk", not door.oldest_first)
    return StreamingHttpResponse(
        _lines(door, rows, order, shape),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )


async def _lines(
    door: "Listing", rows: QuerySet[Any], order: Order, shape: type[BaseSerializer[Any]]
) -> AsyncIterator[str]:
    """With a mark at the beginning by which Excel knows the encoding."""
    plain = shape(context=door.get_serializer_context())
    names = list(plain.fields) if isinstance(plain, Serializer) else []
    yield "\ufeff" + _written([names])
    last: Model | None = None
    while True:
        found, last = await sync_to_async(given_back(_chunk))(door, rows, order, shape, last)
        if found:
            yield _written([[_cell(row.get(name)) for name in names] for row in found])
        if len(found) < CHUNK:
            return


def _chunk(
    door: "Listing",
    rows: QuerySet[Any],
    order: Order,
    shape: type[BaseSerializer[Any]],
    last: Model | None,
) -> tuple[list[dict[str, Any]], Model | None]:
    some = sorted_rows(rows, order)
    if last is not None:
        some = beyond(some, order, place_of(last, order))
    found = door.completed(list(some[:CHUNK]))
    context = door.get_serializer_context()
    return list(shape(found, many=True, context=context).data), found[-1] if found else last


def _written(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    """As text: nothing for what is not known, JSON for what is more than one value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return plain_cell(json.dumps(value, ensure_ascii=False, default=str))
    if isinstance(value, (int, float)):
        return str(value)
    return plain_cell(str(value))
