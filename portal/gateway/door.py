"""Who comes to the gateway, and where to: tickets, cookies, notebooks, tunnels."""

from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings

from nodeagent.protocol.notebooks import PREFIX, base_path
from portal.access.passes import Guest
from portal.gateway import banner, headers, looking
from portal.gateway.answers import said
from portal.gateway.entering import enter, plain_name
from portal.gateway.guests import Guests
from portal.gateway.proxy import FULL, REFUSED, Away, Left, carry_http, carry_socket
from portal.gateway.tunnels import PATH, Receive, Send, Tunnels
from portal.gateway.upstream import Upstreams

log = structlog.get_logger(__name__)

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
NOT_NOW = 4503


class Gateway:
    """One process. It keeps nothing that another could not find out again."""

    def __init__(self) -> None:
        self.tunnels = Tunnels()
        self.upstreams = Upstreams(self.tunnels)
        self.guests = Guests()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """One call of a browser, or one of an agent."""
        path = scope.get("path", "")
        if scope["type"] == "websocket" and path.startswith(PATH):
            await self.tunnels.meet(path.removeprefix(PATH), receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _http(self, scope: Any, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == "/":
            await said(scope, send, 200, "gateway")
        elif path.startswith("/enter/") and scope["method"] == "GET":
            uid = path.removeprefix("/enter/")
            if not await enter(scope, send, uid):
                await self._elsewhere(scope, send, uid)
        elif path == looking.STYLE:
            await looking.style(scope, send)
        elif path.startswith(looking.LOOK):
            await looking.answer(scope, send, self.guests, self.upstreams, self._elsewhere)
        elif not path.startswith(PREFIX):
            await said(scope, send, 404, "There is nothing here.")
        else:
            await self._notebook(scope, receive, send)

    async def _notebook(self, scope: Any, receive: Receive, send: Send) -> None:
        uid, guest = await self._guest(scope)
        if guest is None or (scope["method"] not in SAFE and not _from_here(scope, must=False)):
            await self._elsewhere(scope, send, uid)
            return
        base = base_path(uid)
        if scope["path"].startswith(f"{base}.gpupool/"):
            await banner.answer(scope, receive, send, guest, self.guests)
            return
        browser = bool(headers.first(scope["headers"], b"sec-fetch-mode"))
        if by_hand(scope["method"], scope["path"], base, browser=browser):
            self.guests.touched(guest)
        try:
            upstream = await self.upstreams.of(guest) if guest.attempt else None
            if upstream is None:
                await self._elsewhere(scope, send, uid)
                return
            with upstream.in_use():
                await carry_http(scope, receive, send, upstream, base, self._left(scope, guest))
        except Away as away:
            log.info("gateway.away", workload=uid, reason=str(away))
            await said(scope, send, 502, "The notebook does not answer.")

    async def _socket(self, scope: Any, receive: Receive, send: Send) -> None:
        """Only pages of this very origin may open one: a browser always says whose it is."""
        await receive()
        _, guest = await self._guest(scope)
        if guest is None or not guest.attempt or not _from_here(scope, must=True):
            await send({"type": "websocket.close", "code": REFUSED})
            return
        try:
            upstream = await self.upstreams.of(guest)
            left = self._left(scope, guest)
            with upstream.in_use(socket=True) as room:
                if room:
                    await carry_socket(scope, receive, send, upstream, self._touch(guest), left)
                else:
                    await send({"type": "websocket.close", "code": FULL})
        except Away as away:
            log.info("gateway.away", workload=guest.workload, reason=str(away))
            await send({"type": "websocket.close", "code": NOT_NOW})

    def _touch(self, guest: Guest) -> Callable[[], None]:
        return lambda: self.guests.touched(guest)

    def _left(self, scope: Any, guest: Guest) -> Left:
        cookie = headers.cookie_of(scope["headers"], headers.COOKIE)
        return lambda: self.guests.left(cookie, guest)

    async def _guest(self, scope: Any) -> tuple[str, Guest | None]:
        uid = scope["path"].removeprefix(PREFIX).partition("/")[0]
        cookie = headers.cookie_of(scope["headers"], headers.COOKIE)
        if not cookie or not uid.isprintable():
            return uid, None
        return uid, await self.guests.of(cookie, uid)

    async def _elsewhere(self, scope: Any, send: Send, uid: str) -> None:
        """Who is not let in goes to the portal, which knows them; scripts are told no."""
        page = headers.first(scope["headers"], b"sec-fetch-mode") == "navigate"
        if page and settings.PUBLIC_URL and plain_name(uid):
            there = f"{settings.PUBLIC_URL}/notebooks/{uid}/"
            await said(scope, send, 303, "", [(b"location", there.encode())])
        else:
            await said(scope, send, 403, "Open it from the portal.")


def by_hand(method: str, path: str, base: str, *, browser: bool = False) -> bool:
    """Whether a call says that somebody is there.

    An open page writes its own layout down every ten seconds, whether anybody looks at it or not,
    and it saves by itself: every two minutes, and when the end is near. Who types, clicks or drops
    a file there is told by its script. A call from outside of a browser is somebody's.
    """
    saves = method == "PUT" or path.endswith("/checkpoints")
    by_itself = browser and saves and path.startswith(f"{base}api/contents/")
    return method not in SAFE and not by_itself and not path.startswith(f"{base}lab/api/")


def _from_here(scope: Any, *, must: bool) -> bool:
    """Whether the page that asks is of this origin. Scripts outside of browsers name none."""
    origin = headers.first(scope["headers"], b"origin")
    if not origin:
        return not must
    host = headers.first(scope["headers"], b"host")
    return origin.partition("://")[2] == host
