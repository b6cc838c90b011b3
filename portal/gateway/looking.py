"""Looking at the files of a notebook that was shared: pages of the gateway's own, without scripts.

Only folders and files are asked of the notebook, one at a time. Nothing that its owner wrote runs
in the viewer's browser, and nothing that the viewer sends reaches the notebook.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import structlog
from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation

from nodeagent.protocol.notebooks import base_path
from pool.selectors.notebooks.wanted import token_of
from portal.access.passes import Guest
from portal.gateway import headers
from portal.gateway.answers import said
from portal.gateway.guests import Guests
from portal.gateway.language import language_of
from portal.gateway.proxy import AWAY
from portal.gateway.shown import crumbs, file_of, plain_bytes, plain_path, shown
from portal.gateway.tunnels import Send
from portal.gateway.upstream import Upstream, Upstreams

log = structlog.get_logger(__name__)

LOOK = "/look/"
"""The pages about shared files lie below this path, those of a notebook below its uid."""

STYLE = "/look.css"
LARGEST = 4 * 1024 * 1024
"""Larger files are not shown; in bytes."""

LOOK_S = 20.0
POLICY = (
    b"default-src 'none'; style-src 'self'; img-src data:; form-action 'none'; "
    b"frame-ancestors 'none'; base-uri 'none'; sandbox allow-downloads"
)
"""No script runs, nothing is fetched but the style, and the page is of no origin at all."""

Elsewhere = Callable[[Any, Send, str], Awaitable[None]]


def look_path(uid: str) -> str:
    """Where the shared files of a notebook are shown."""
    return f"{LOOK}{uid}/"


async def style(scope: Any, send: Send) -> None:
    """How the pages look; nobody has to be known for it."""
    await _sent(send, 200, _style(), [(b"content-type", b"text/css; charset=utf-8")])


async def answer(
    scope: Any, send: Send, guests: Guests, upstreams: Upstreams, elsewhere: Elsewhere
) -> None:
    """One page, or one file to keep. Whatever is not plain reading is refused."""
    uid, _, path = scope["path"].removeprefix(LOOK).partition("/")
    cookie = headers.cookie_of(scope["headers"], headers.COOKIE)
    guest = await guests.of(cookie, uid, reads=True) if cookie and uid.isprintable() else None
    if guest is None:
        await elsewhere(scope, send, uid)
    elif scope["method"] != "GET":
        await said(scope, send, 405, "These files can only be read.", [(b"allow", b"GET")])
    elif not plain_path(path):
        await _page(scope, send, guest, 404, {"missing": True})
    elif not guest.attempt:
        await _page(scope, send, guest, 409, {"asleep": True})
    elif not await guests.looks(guest):
        await said(scope, send, 429, "Too many look at once. Try again in some seconds.")
    else:
        await _read(scope, send, guest, await upstreams.of(guest), path.rstrip("/"))


async def _read(scope: Any, send: Send, guest: Guest, upstream: Upstream, path: str) -> None:
    try:
        with upstream.in_use():
            async with asyncio.timeout(LOOK_S):
                told = await _asked(upstream, guest, path)
    except (*AWAY, TimeoutError) as away:
        log.info("gateway.away", workload=guest.workload, reason=repr(away))
        await _page(scope, send, guest, 502, {"away": True})
        return
    if told is None:
        await _page(scope, send, guest, 404, {"missing": True})
    elif scope["query_string"] == b"keep":
        await _kept(scope, send, guest, told, path)
    elif told.get("too_large"):
        found = {"too_large": True, "path": path, "crumbs": crumbs(look_path(guest.workload), path)}
        await _page(scope, send, guest, 200, found)
    else:
        found = await asyncio.to_thread(shown, told, look_path(guest.workload), path)
        await _page(scope, send, guest, 200, found)


async def _asked(upstream: Upstream, guest: Guest, path: str) -> dict[str, Any] | None:
    """What the notebook's server says of one path; None when it is not there.

    Raises:
        httpx.TransportError: it does not answer.
    """
    told = await _contents(upstream, guest, path, content=0)
    if told is None or told.get("type") == "directory":
        return told and await _contents(upstream, guest, path, content=1)
    size = told.get("size")
    if not isinstance(size, int) or size > LARGEST:
        return told | {"too_large": True}
    whole = await _contents(upstream, guest, path, content=1)
    return told | {"too_large": True} if whole is None else whole


async def _contents(
    upstream: Upstream, guest: Guest, path: str, *, content: int
) -> dict[str, Any] | None:
    url = f"http://notebook{base_path(guest.workload)}api/contents/{quote(path)}?content={content}"
    token = {"authorization": f"token {token_of(guest.attempt)}"}
    body = bytearray()
    async with upstream.http.stream("GET", url, headers=token) as answer:
        if answer.status_code != 200:
            return None
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > 4 * LARGEST:
                return None
    try:
        found = await asyncio.to_thread(json.loads, bytes(body))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


async def _kept(scope: Any, send: Send, guest: Guest, told: dict[str, Any], path: str) -> None:
    body = None if told.get("too_large") else await asyncio.to_thread(file_of, told)
    if body is None:
        await _page(scope, send, guest, 404, {"missing": True})
        return
    name = quote(path.rpartition("/")[2])
    pairs = [
        (b"content-type", b"application/octet-stream"),
        (b"content-disposition", f"attachment; filename*=UTF-8''{name}".encode("latin-1")),
    ]
    await _sent(send, 200, body, pairs)


async def _page(scope: Any, send: Send, guest: Guest, status: int, found: dict[str, Any]) -> None:
    language = language_of(guest.language, scope["headers"])
    words = {"base": look_path(guest.workload), "style": STYLE, "language": language} | found
    words["portal"] = f"{settings.PUBLIC_URL}/notebooks/{guest.workload}/"
    body = await asyncio.to_thread(_drawn, language, words)
    await _sent(send, status, body, [(b"content-type", b"text/html; charset=utf-8")])


def _drawn(language: str, words: dict[str, Any]) -> bytes:
    with translation.override(language):
        return plain_bytes(render_to_string("gateway/look.html", words))


async def _sent(send: Send, status: int, body: bytes, pairs: headers.Pairs) -> None:
    rules = [
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", POLICY),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*pairs, *rules]})
    await send({"type": "http.response.body", "body": body})


@cache
def _style() -> bytes:
    return (Path(settings.BASE_DIR) / "static" / "css" / "look.css").read_bytes()
