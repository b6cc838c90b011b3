"""A browser's socket: it says what it looks at, and is sent what changed."""

import asyncio
import json
from typing import Any

import structlog
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http import HttpRequest
from django.utils import translation

from portal.live.hub import hub
from portal.live.reading import sight
from portal.live.relevance import LOG
from portal.live.seat import Seat, said

log = structlog.get_logger(__name__)

PING_S = 25.0
MOST_TOPICS = 40
LONGEST_TOPIC = 100
MOST_BYTES = 16 * 1024
BAD_MESSAGE, LOGIN_OVER = 4400, 4401


class BrowserSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """`{"subscribe": [topics], "cursor": {log topic: offset}}`, `{"unsubscribe": [topics]}`."""

    channel_layer_alias = None
    seat: Seat | None = None

    async def connect(self) -> None:
        """Only with a login."""
        user = self.scope["user"]
        session = getattr(self.scope.get("session"), "session_key", None)
        found = None
        if user.is_authenticated and session:
            found = await database_sync_to_async(sight)(user.pk, session)
        if found is None:
            await self.close(code=LOGIN_OVER)
            return
        await self.accept()
        self.seat = Seat(found.user, language_of(self.scope, found.user.language), str(session))
        self.seat.projects = found.projects
        hub().sit(self.seat)
        self._writer = asyncio.ensure_future(self._write(self.seat))

    async def disconnect(self, code: int) -> None:
        """Give the place back."""
        if self.seat is not None:
            self._writer.cancel()
            await hub().rise(self.seat)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """What the page looks at. Anything else ends the socket."""
        asked = read(text_data)
        if asked is None or self.seat is None:
            await self.close(code=BAD_MESSAGE)
            return
        for topic in asked["unsubscribe"]:
            self.seat.leave(topic)
        for topic in asked["subscribe"]:
            if len(self.seat.keys) >= MOST_TOPICS and topic not in self.seat.keys:
                self.seat.refuse(topic)
            else:
                await hub().subscribe(self.seat, topic, asked["cursor"].get(topic))

    async def _write(self, seat: Seat) -> None:
        """Send until the person's login or the socket is over; `disconnect` follows the latter."""
        try:
            await self._send_on(seat)
        except OSError as gone:
            log.debug("socket.gone", reason=repr(gone))

    async def _send_on(self, seat: Seat) -> None:
        """Send what waits, as fast as the socket takes it; a ping when there is nothing."""
        while True:
            try:
                await asyncio.wait_for(seat.ready.wait(), PING_S)
            except TimeoutError:
                seat.put("ping", said(ping=True))
            if seat.gone:
                await self.close(code=LOGIN_OVER)
                return
            for topic, message in seat.take():
                await self.send(text_data=message.decode())
                if topic.startswith(LOG):
                    hub().again(topic)


def read(text: str | None) -> dict[str, Any] | None:
    """A page's message in its shape; None when it is none."""
    if text is None or len(text) > MOST_BYTES:
        return None
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict):
        return None
    lists = {name: given.get(name, []) for name in ("subscribe", "unsubscribe")}
    cursor = given.get("cursor", {})
    if not all(_topics(named) for named in lists.values()) or not isinstance(cursor, dict):
        return None
    offsets = {k: v for k, v in cursor.items() if type(v) is int and 0 <= v < 2**62}
    return {**lists, "cursor": offsets}


def _topics(named: Any) -> bool:
    return (
        isinstance(named, list)
        and len(named) <= MOST_TOPICS
        and all(isinstance(t, str) and 0 < len(t) <= LONGEST_TOPIC for t in named)
    )


def language_of(scope: dict[str, Any], chosen: str) -> str:
    """The language that the person's pages have."""
    if chosen in dict(settings.LANGUAGES):
        return chosen
    asked = HttpRequest()
    asked.COOKIES = dict(scope.get("cookies", {}))
    headers = dict(scope.get("headers", []))
    asked.META["HTTP_ACCEPT_LANGUAGE"] = headers.get(b"accept-language", b"").decode("latin-1")
    return translation.get_language_from_request(asked)
