"""Carries one call to a notebook and back: HTTP as a stream, sockets message by message."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx
import structlog
import websockets
from websockets.asyncio.client import ClientConnection, unix_connect

from pool.selectors.notebooks.wanted import token_of
from portal.gateway import headers
from portal.gateway.tunnels import Message, Receive, Send
from portal.gateway.upstream import Upstream

log = structlog.get_logger(__name__)

TAG = b'<script src="%s.gpupool/banner.js" defer></script></head>'
LARGEST_PAGE = 4 * 1024 * 1024
"""A page that is longer goes as it comes, without the banner: none is ever held whole beyond it."""

LARGEST_MESSAGE = 32 * 1024 * 1024
"""One message of a kernel that is longer ends its socket: a message has to be held whole."""

BARE = ("GET", "HEAD", "OPTIONS")
"""Their body, if there is one, is not carried."""

SOCKET_S = 20.0
REFUSED = 4403
FULL = 4429
"""Too many sockets are open in this notebook."""
LOST = 1011
UNSAYABLE = (1005, 1006)
"""Codes that only say that no close was heard."""

INPUT = (b"execute_request", b"input_reply", b"complete_request", b"inspect_request", b'"stdin"')
"""What a browser sends over a socket when a person does something there."""

AWAY = (httpx.TransportError, httpx.InvalidURL, httpx.DecodingError)
"""The other end is gone, or says what nobody can read."""


Left = Callable[[], Coroutine[Any, Any, None]]
"""Waits until the guest may no longer be there; what is carried for them ends then."""


class Away(Exception):
    """The notebook cannot be reached now."""


async def carry_http(
    scope: Any, receive: Receive, send: Send, upstream: Upstream, base: str, left: Left
) -> None:
    """One call, cut off in the middle when the guest may no longer be there, or is gone.

    The server takes what is sent to a browser that is gone without a word, so that an answer
    without an end would be carried for ever.

    Raises:
        Away: nothing was sent yet.
    """
    started, whole = asyncio.Event(), asyncio.Event()
    said = _Said(receive, bare=scope["method"] in BARE)

    async def onward(message: Message) -> None:
        started.set()
        if message["type"] == "http.response.body" and not message.get("more_body"):
            whole.set()
        await send(message)

    call = asyncio.ensure_future(_call(scope, said, onward, upstream, base))
    out = asyncio.ensure_future(left())
    gone = asyncio.ensure_future(said.hung_up())
    try:
        await asyncio.wait((call, out, gone), return_when=asyncio.FIRST_COMPLETED)
        if whole.is_set():  # to the server a browser is also gone once it has everything
            await asyncio.wait((call, out), return_when=asyncio.FIRST_COMPLETED)
    finally:
        await _stopped(call, out, gone)
    failure = Away("the guest is gone") if call.cancelled() else call.exception()
    if failure is not None and started.is_set() and isinstance(failure, (Away, *AWAY)):
        log.info("gateway.cut_off", reason=repr(failure))  # what was sent must not look whole
    elif failure is not None:
        raise Away(repr(failure)) if isinstance(failure, AWAY) else failure


class _Said:
    """What the browser says: its body first, of which there is one reader, then that it is gone."""

    def __init__(self, receive: Receive, *, bare: bool) -> None:
        self._receive = receive
        self._over = asyncio.Event()
        if bare:
            self._over.set()

    def over(self) -> None:
        """Nobody reads the body any more."""
        self._over.set()

    async def body(self) -> AsyncIterator[bytes]:
        """The parts of the body.

        Raises:
            Away: the browser hung up in the middle of it.
        """
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                raise Away("the browser hung up")
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body"):
                self.over()
                return

    async def hung_up(self) -> None:
        """Wait until the browser is gone; what it says after its body is heard and dropped."""
        await self._over.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass


async def _call(scope: Any, said: _Said, send: Send, upstream: Upstream, base: str) -> None:
    """One call, neither side ever held whole. The page itself gets the banner's script."""
    host = headers.first(scope["headers"], b"host")
    page = scope["method"] == "GET" and scope["path"].startswith(f"{base}lab")
    answer = await _asked(scope, said, upstream, page)
    said.over()
    try:
        pairs = headers.outward(answer.headers.raw, host, scope["scheme"] == "https")
        html = answer.headers.get("content-type", "").startswith("text/html")
        if page and html and answer.status_code == 200:
            await _page(send, answer, pairs, base)
            return
        await send({"type": "http.response.start", "status": answer.status_code, "headers": pairs})
        async for body in answer.aiter_raw():
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        await answer.aclose()


async def _asked(scope: Any, said: _Said, upstream: Upstream, page: bool) -> httpx.Response:
    """Send the request; one without a body is tried twice, as a kept connection may be over."""
    query = scope["query_string"].decode("latin-1")
    path = scope["raw_path"].decode("latin-1").partition("?")[0]
    url = f"http://notebook{path}{'?' + query if query else ''}"
    pairs = headers.inward(scope["headers"], token_of(upstream.attempt), plain=page)
    bare = scope["method"] in BARE
    for left in (1, 0):
        body = None if bare else said.body()
        request = upstream.http.build_request(scope["method"], url, headers=pairs, content=body)
        try:
            return await upstream.http.send(request, stream=True)
        except AWAY as failure:
            if not bare or not left:
                raise Away(repr(failure)) from failure
    raise Away


async def _page(send: Send, answer: httpx.Response, pairs: headers.Pairs, base: str) -> None:
    """A page with our script in its head; one that is too large or packed goes as it comes."""
    parts = answer.aiter_raw()
    body, whole = b"", False
    if not answer.headers.get("content-encoding"):
        body, whole = await _read(parts)
    if whole:
        body = body.replace(b"</head>", TAG % base.encode(), 1)
        pairs = [(k, v) for k, v in pairs if k not in (b"content-length", b"etag")]
        pairs.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": 200, "headers": pairs})
    if body:
        await send({"type": "http.response.body", "body": body, "more_body": True})
    async for part in parts:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _read(parts: AsyncIterator[bytes]) -> tuple[bytes, bool]:
    """What came, up to a little more than the largest page, and whether that is all of it."""
    body = bytearray()
    async for part in parts:
        body += part
        if len(body) > LARGEST_PAGE:
            return bytes(body), False
    return bytes(body), True


async def carry_socket(
    scope: Any, receive: Receive, send: Send, upstream: Upstream, touched: Any, left: Left
) -> None:
    """One socket, both ways; `touched` hears when a person did something.

    It is closed with 4403 when the guest may no longer be there.

    Raises:
        Away: the notebook refuses it or is not there.
    """
    query = scope["query_string"].decode("latin-1")
    path = scope["raw_path"].decode("latin-1").partition("?")[0]
    host = headers.first(scope["headers"], b"host")
    protocols = scope.get("subprotocols") or None
    try:
        async with unix_connect(
            upstream.path,
            f"ws://{host}{path}{'?' + query if query else ''}",
            additional_headers={"Authorization": f"token {token_of(upstream.attempt)}"},
            origin=headers.first(scope["headers"], b"origin") or None,
            subprotocols=protocols,
            compression=None,
            max_size=LARGEST_MESSAGE,
            max_queue=1,
            open_timeout=SOCKET_S,
            ping_interval=None,
        ) as socket:
            await send({"type": "websocket.accept", "subprotocol": socket.subprotocol})
            await _both(socket, receive, send, touched, left)
    except (OSError, TimeoutError, websockets.WebSocketException) as failure:
        raise Away(repr(failure)) from failure


async def _both(
    socket: ClientConnection, receive: Receive, send: Send, touched: Any, left: Left
) -> None:
    ways = [
        asyncio.ensure_future(_from_browser(socket, receive, touched)),
        asyncio.ensure_future(_to_browser(socket, send)),
        asyncio.ensure_future(left()),
    ]
    try:
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:  # nothing is carried any more, even to a browser that does not hear the end
        await _stopped(*ways)
    code = REFUSED if ways[2] in done else _ended(socket)
    if done == {ways[0]}:
        return
    try:
        async with asyncio.timeout(SOCKET_S):
            await send({"type": "websocket.close", "code": code})
    except (OSError, RuntimeError) as gone:  # the browser hung up at the same moment
        log.debug("gateway.gone", reason=repr(gone))


def _ended(socket: ClientConnection) -> int:
    """Why the notebook's side is over, as a code that may be told on."""
    told = socket.close_code or 1000
    if told not in UNSAYABLE:
        return told
    ours = socket.protocol.close_sent
    return LOST if ours is None or ours.code in UNSAYABLE else ours.code


async def _stopped(*ways: asyncio.Future[None]) -> None:
    for way in ways:
        way.cancel()
    await asyncio.gather(*ways, return_exceptions=True)


async def _from_browser(socket: ClientConnection, receive: Receive, touched: Any) -> None:
    while (message := await receive())["type"] == "websocket.receive":
        body = _payload(message)
        head = body[:4096] if isinstance(body, bytes) else body[:4096].encode("utf-8", "replace")
        if any(word in head for word in INPUT):
            touched()
        await socket.send(body)


async def _to_browser(socket: ClientConnection, send: Send) -> None:
    async for body in socket:
        kind = "bytes" if isinstance(body, bytes) else "text"
        await send({"type": "websocket.send", kind: body})


def _payload(message: Message) -> bytes | str:
    text = message.get("text")
    return text if text is not None else message.get("bytes") or b""
