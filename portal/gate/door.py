"""The nodes' own way in: a knock needs no session, no language and no page's guards.

A thousand nodes knock 300 times a second; the layers that pages need cost more than an answer.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from tempfile import SpooledTemporaryFile
from typing import IO

import structlog
from django.core.handlers.asgi import ASGIRequest
from django.core.signals import request_finished, request_started
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import Resolver404, resolve

from portal.api.errors import told
from portal.bodies import App, Message, Receive, Scope, Send
from portal.middleware import RequestId

log = structlog.get_logger(__name__)

PLACE = "/gate/v1"
THREADS = 6
"""Knocks that are answered at once; each holds a connection to the database meanwhile."""

LATE_S = 10.0
"""A node hangs up after so long: what has waited longer is not worth the work."""

IN_MEMORY = 1024 * 1024
"""Bytes of a body; more of it lies in a file without a name."""


class GateDoor:
    """An ASGI application in front of the portal's: it answers below `/gate/v1/` itself."""

    def __init__(self, app: App, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._clock = clock
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="gate")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PLACE + "/"):
            await self._app(scope, receive, send)
            return
        with SpooledTemporaryFile(max_size=IN_MEMORY) as body:
            if not await _received(receive, body):
                return
            until = self._clock() + LATE_S
            loop = asyncio.get_running_loop()
            work = loop.run_in_executor(self._threads, self._answer, scope, body, until)
            # The thread reads the body: it stays open until the thread is done, come what may.
            answer = await _to_its_end(work)
        await _send(answer, send)

    def _answer(self, scope: Scope, body: IO[bytes], until: float) -> HttpResponseBase:
        if self._clock() > until:
            said = told("overloaded", "Too many nodes call at once; try again.")
            return JsonResponse(said, status=503)
        request_started.send(sender=type(self), scope=scope)
        try:
            return RequestId(_found)(ASGIRequest(scope, body))
        except Exception:
            log.exception("gate.failed", path=scope["path"])
            return JsonResponse(told("error", "The portal failed."), status=500)
        finally:
            # Gives the connection back.
            request_finished.send(sender=type(self))


def _found(request: HttpRequest) -> HttpResponse:
    try:
        match = resolve(request.path_info.removeprefix(PLACE), "portal.gate.urls")
    except Resolver404:
        return JsonResponse(told("not_found", "There is nothing here."), status=404)
    answer: HttpResponse = match.func(request, *match.args, **match.kwargs)
    return answer


async def _received(receive: Receive, body: IO[bytes]) -> bool:
    """The whole body is there; false when the caller hung up before."""
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return False
        body.write(message.get("body", b""))
        more = bool(message.get("more_body", False))
    body.seek(0)
    return True


async def _to_its_end(work: "asyncio.Future[HttpResponseBase]") -> HttpResponseBase:
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([work])
        raise


async def _send(answer: HttpResponseBase, send: Send) -> None:
    headers = [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in answer.items()]
    body = getattr(answer, "content", b"")
    headers.append((b"content-length", str(len(body)).encode()))
    start: Message = {"type": "http.response.start", "status": answer.status_code}
    await send({**start, "headers": headers})
    await send({"type": "http.response.body", "body": body})
