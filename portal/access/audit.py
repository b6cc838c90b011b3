"""The audit log, searched and taken away: one set of filters for page and REST, streamed out."""

import csv
import io
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models import Event, User
from pool.sheets import plain_cell
from portal.access.streams import given_back

COLUMNS = (
    "id",
    "at",
    "kind",
    "subject",
    "actor_kind",
    "actor_id",
    "actor_label",
    "request_id",
    "data",
)
CHUNK = 1000


def audit_narrowed(rows: QuerySet[Event], asked: dict[str, Any]) -> QuerySet[Event]:
    """By kind (or its beginning), subject, who, request id, text in the details, and time.

    `since` is the first moment, `until` the first moment that is left out.
    """
    paths = {
        "kind": "kind__startswith",
        "subject": "subject__endswith",
        "actor": "actor_label",
        "request_id": "request_id",
        "text": "data__icontains",
        "since": "at__gte",
        "until": "at__lt",
        "after": "id__gt",
    }
    given = {paths[name]: value for name, value in asked.items() if value not in (None, "")}
    return rows.filter(**given)


def audit_export(
    rows: QuerySet[Event], *, shape: str, user: User, actor: Actor, asked: dict[str, Any]
) -> StreamingHttpResponse:
    """All the rows, newest first, as `csv` or `json` (one object a line), a thousand at a time.

    Taking the log away is an event of its own.
    """
    said = {name: str(value) for name, value in asked.items() if value not in (None, "")}
    record(EventKind.EVENTS_EXPORTED, user, actor=actor, format=shape, filters=said)
    lines = _csv(rows) if shape == "csv" else _json(rows)
    kind = "text/csv; charset=utf-8" if shape == "csv" else "application/x-ndjson"
    name = f"events-{now().astimezone(UTC):%Y%m%d-%H%M%S}.{'csv' if shape == 'csv' else 'jsonl'}"
    return StreamingHttpResponse(
        lines,
        content_type=kind,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )


async def _chunks(rows: QuerySet[Event]) -> AsyncIterator[list[tuple[Any, ...]]]:
    """By keys: a long log costs no more memory than a short one."""
    last: int | None = None
    while True:
        found = await sync_to_async(given_back(_older))(rows, last)
        if found:
            yield found
        if len(found) < CHUNK:
            return
        last = found[-1][0]


def _older(rows: QuerySet[Event], last: int | None) -> list[tuple[Any, ...]]:
    some = rows if last is None else rows.filter(id__lt=last)
    return list(some.order_by("-id").values_list(*COLUMNS)[:CHUNK])


async def _csv(rows: QuerySet[Event]) -> AsyncIterator[str]:
    yield "\ufeff" + ",".join(COLUMNS) + "\r\n"
    async for found in _chunks(rows):
        text = io.StringIO()
        lines = csv.writer(text)
        for row in found:
            lines.writerow([_cell(value) for value in row])
        yield text.getvalue()


async def _json(rows: QuerySet[Event]) -> AsyncIterator[str]:
    async for found in _chunks(rows):
        told = (dict(zip(COLUMNS, row, strict=True)) for row in found)
        yield "".join(json.dumps(one, default=_plain, ensure_ascii=False) + "\n" for one in told)


def _cell(value: Any) -> str:
    """As text that no spreadsheet takes for a formula."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else _plain(value)
    return plain_cell(text)


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
