"""`/healthz`: is every part well? In detail for the machine itself or whoever has the token."""

import threading
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import psycopg
import redis
from channels.layers import get_channel_layer
from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe
from kombu.exceptions import KombuError

from portal.access.watching import may_watch
from portal.pulse import BEAT, alive

QUEUES = ("rounds", "default", "metering", "studies")
KEPT_SECONDS = 1.0
Part = dict[str, Any]
_LOOKING = threading.Lock()
_KEPT: list[tuple[float, dict[str, Part]]] = []


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when every part is well, 503 otherwise. Strangers learn only which of the two."""
    parts = examined()
    well = all(part["ok"] for part in parts.values())
    body: dict[str, Any] = {"status": "ok" if well else "unwell"}
    if may_watch(request):
        body["parts"] = parts
    return JsonResponse(body, status=200 if well else 503, headers={"Cache-Control": "no-store"})


def examined() -> dict[str, Part]:
    """The last look, at most a second old; callers at the same time share one.

    Strangers may ask as often as they like: it costs one connection a second and process.
    """
    with _LOOKING:
        if not _KEPT or time.monotonic() - _KEPT[0][0] > KEPT_SECONDS:
            parts = examine()
            _KEPT[:] = [(time.monotonic(), parts)]
        return _KEPT[0][1]


def examine() -> dict[str, Part]:
    """Every part with `ok`, and `each` or `why` where there is more to say. Never raises."""
    found: dict[str, Part] = {}
    try:
        with psycopg.connect(**_plain_parameters()) as link:
            found["database"] = {"ok": True}
            found["migrations"] = _tried(lambda: _migrations(link))
            found["agents"] = _tried(lambda: _agents(link))
    except psycopg.Error as bad:
        found["database"] = {"ok": False, "why": _first_line(bad)}
        found["migrations"] = found["agents"] = {"ok": False, "why": "no database"}
    found["broker"] = _tried(_broker)
    found["channels"] = _tried(_channels)
    found |= _background()
    return found


def _plain_parameters() -> dict[str, Any]:
    """A connection of its own: the pool may be what is unwell, and its wait is long."""
    known = {k: v for k, v in connection.get_connection_params().items() if k != "pool"}
    return known | {"connect_timeout": 2, "cursor_factory": psycopg.Cursor, "autocommit": True}


def _tried(look: Callable[[], Part]) -> Part:
    try:
        return look()
    except (psycopg.Error, redis.RedisError, KombuError, OSError) as bad:
        return {"ok": False, "why": _first_line(bad)}


def _first_line(bad: Exception) -> str:
    """The kind of the error and its first line, which holds no address and no password."""
    return f"{type(bad).__name__}: {(str(bad).splitlines() or [''])[0][:200]}"


@lru_cache(maxsize=1)
def _wanted() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).disk_migrations)


def _migrations(link: psycopg.Connection[Any]) -> Part:
    done = set(link.execute("SELECT app, name FROM django_migrations").fetchall())
    missing = sorted(f"{app}.{name}" for app, name in _wanted() - done)
    return {"ok": not missing, "missing": missing[:10]}


def _agents(link: psycopg.Connection[Any]) -> Part:
    """Unwell when more nodes keep silent than `HEALTH_SILENT_SHARE` (of 1) allows."""
    rows = link.execute(
        "SELECT name, state, extract(epoch FROM pool_now() - last_report_at)::float8 FROM pool_node"
        " WHERE state NOT IN ('lost', 'retired')"
    ).fetchall()
    each = {str(name): state not in {"silent", "joining"} for name, state, _ in rows}
    silent = sum(not well for well in each.values())
    ok = silent <= len(each) * settings.HEALTH_SILENT_SHARE
    return {"ok": ok, "each": each, "heard_s": {str(name): heard for name, _, heard in rows}}


def _broker() -> Part:
    from portal.celery import app

    with app.connection_for_write(connect_timeout=1) as link:
        link.ensure_connection(max_retries=1, timeout=1)
    return {"ok": True}


def _channels() -> Part:
    """The layer's own Valkey answers; a message through it would need a listener."""
    if get_channel_layer() is None:
        return {"ok": False, "why": "no channel layer is configured"}
    caches["fast"].get("health")
    return {"ok": True}


def _background() -> dict[str, Part]:
    names = [*(f"queue:{queue}" for queue in QUEUES), BEAT]
    try:
        seen = alive(names)
    except (redis.RedisError, OSError) as bad:
        lost = {"ok": False, "why": _first_line(bad)}
        return {"workers": lost, "beat": lost}
    beat = seen.pop(BEAT)
    return {"workers": {"ok": all(seen.values()), "each": seen}, "beat": {"ok": beat}}
