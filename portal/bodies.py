"""Before Django: a body over the limit is refused while it arrives, not after it is stored."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

MOST_BYTES = 12 * 1024 * 1024

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class TooMuch(Exception):
    """The body has passed the limit."""


class BodyLimit:
    """An ASGI application in front of another; answers 413 itself."""

    def __init__(self, app: App, most: int = MOST_BYTES) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _declared(scope) > self._most:
            await self._refuse(send)
            return
        await self._measured(scope, receive, send)

    async def _measured(self, scope: Scope, receive: Receive, send: Send) -> None:
        seen = 0
        begun = False

        async def measured() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                raise TooMuch
            return message

        async def sent(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, measured, sent)
        except TooMuch:
            if not begun:
                await self._refuse(send)

    async def _refuse(self, send: Send) -> None:
        said = {"code": "too_large", "message": "The body is too large.", "detail": {}}
        said["detail"] = {"limit_bytes": self._most}
        body = json.dumps(said).encode()
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0
