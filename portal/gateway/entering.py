"""The way in: a browser goes once more by the portal, which knows whose ticket it may use."""

import secrets
from typing import Any
from urllib.parse import parse_qs, urlencode

from channels.db import database_sync_to_async
from django.conf import settings

from nodeagent.protocol.notebooks import base_path
from portal.access.entrances import entrance_holds, mark_of
from portal.access.passes import ticket_spend
from portal.gateway import headers
from portal.gateway.answers import said
from portal.gateway.looking import look_path
from portal.gateway.tunnels import Send

MARK = "gpe"
"""The cookie by which a browser that asks to be let in is known again; for a minute."""

_spend = database_sync_to_async(ticket_spend)


async def enter(scope: Any, send: Send, uid: str) -> bool:
    """A ticket becomes the cookie of this one notebook, and is gone; False when it is no good.

    One that only reads becomes that of the pages about its files, and of nothing else.

    Scripts have no portal to go by: they are known by their token, and no page leads them.
    """
    asked = parse_qs(scope["query_string"].decode("latin-1"))
    ticket, word = (asked.get(name, [""])[0] for name in ("ticket", "word"))
    if not ticket or not plain_name(uid):
        return False
    if _is_browser(scope):
        number = headers.cookie_of(scope["headers"], MARK)
        if not word:
            await _by_the_portal(scope, send, uid, ticket)
            return True
        if not number or not entrance_holds(word=word, plain=ticket, number=number):
            return False
    cookie, base, page = await _spend(plain=ticket, uid=uid), base_path(uid), "lab"
    if cookie is None:
        cookie, base, page = await _spend(plain=ticket, uid=uid, reads=True), look_path(uid), ""
    if cookie is None:
        return False
    kept = f"{headers.COOKIE}={cookie}; Path={base}; {_manners(scope)}"
    over = f"{MARK}=; Path=/enter/{uid}; Max-Age=0; {_manners(scope)}"
    goes = [
        (b"location", f"{base}{page}".encode("latin-1")),
        (b"set-cookie", kept.encode("latin-1")),
        (b"set-cookie", over.encode("latin-1")),
    ]
    await said(scope, send, 303, "", goes)
    return True


async def _by_the_portal(scope: Any, send: Send, uid: str, ticket: str) -> None:
    number = secrets.token_urlsafe(24)
    kept = f"{MARK}={number}; Path=/enter/{uid}; Max-Age=120; {_manners(scope)}"
    query = urlencode({"ticket": ticket, "mark": mark_of(number)})
    there = f"{settings.PUBLIC_URL}/notebooks/{uid}/vouch/?{query}"
    goes = [(b"location", there.encode()), (b"set-cookie", kept.encode("latin-1"))]
    await said(scope, send, 303, "", goes)


def plain_name(uid: str) -> bool:
    """Whether this can be the uid of a workload, and so stand in an address."""
    return uid.isascii() and uid.replace("_", "").replace("-", "").isalnum()


def _manners(scope: Any) -> str:
    return f"HttpOnly; SameSite=Lax{'; Secure' if scope['scheme'] == 'https' else ''}"


def _is_browser(scope: Any) -> bool:
    """Every browser says that it navigates, or that it would like a page."""
    told = headers.first(scope["headers"], b"sec-fetch-mode")
    return bool(told) or "text/html" in headers.first(scope["headers"], b"accept")
