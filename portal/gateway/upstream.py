"""One notebook as this gateway reaches it: a local socket whose connections its node carries."""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import structlog

from portal.access.passes import Guest
from portal.gateway.tunnels import NoTunnel, Tunnels, carry

log = structlog.get_logger(__name__)

IDLE_S = 600.0
MOST_CONNECTIONS = 64
KEPT_CONNECTIONS = 16
CONNECT_S = 15.0
POOL_S = 30.0
"""So long a call waits for one of the notebook's connections when all are taken."""

MOST_SOCKETS = 24
"""So many kernels, terminals and the like may be open in one notebook at a time."""


class Upstream:
    """The socket (0700 by its folder) and the HTTP client of one run of one notebook."""

    def __init__(self, guest: Guest, tunnels: Tunnels) -> None:
        self.attempt = guest.attempt
        self.used_at = asyncio.get_running_loop().time()
        self.calls = 0
        self.sockets = 0
        self._node = guest.node
        self._looks = guest.reads
        self._tunnels = tunnels
        self._folder = Path(tempfile.mkdtemp(prefix="gpn-"))
        self.path = str(self._folder / "s")
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.http = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(
                uds=self.path,
                limits=httpx.Limits(
                    max_connections=MOST_CONNECTIONS, max_keepalive_connections=KEPT_CONNECTIONS
                ),
            ),
            timeout=httpx.Timeout(None, connect=CONNECT_S, pool=POOL_S),
            trust_env=False,
        )

    async def start(self) -> None:
        """Listen; nothing is asked of the node before somebody connects."""
        self._server = await asyncio.start_unix_server(self._serve, self.path)

    @contextmanager
    def in_use(self, *, socket: bool = False) -> Iterator[bool]:
        """Held while something is carried; False when the notebook has all the sockets it may."""
        room = not socket or self.sockets < MOST_SOCKETS
        self.calls += 1
        self.sockets += socket and room
        try:
            yield room
        finally:
            self.calls -= 1
            self.sockets -= socket and room
            self.used_at = asyncio.get_running_loop().time()

    def left_alone(self, now: float) -> bool:
        """Nothing was carried for ten minutes; connections that are only kept do not count."""
        return not self.calls and now - self.used_at > IDLE_S

    async def close(self) -> None:
        """Hang up everywhere and remove the socket."""
        for task in list(self._open):
            task.cancel()
        if self._server is not None:
            self._server.close()
        await self.http.aclose()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._open.add(task)
            task.add_done_callback(self._open.discard)
        try:
            end = await self._tunnels.dig(node=self._node, attempt=self.attempt, looks=self._looks)
            await carry(end, reader, writer)
        except NoTunnel as none:
            log.info("gateway.no_tunnel", attempt=self.attempt, reason=str(none))
        except asyncio.CancelledError:
            log.debug("gateway.hung_up", attempt=self.attempt)
        finally:
            with contextlib.suppress(OSError):
                writer.close()


class Upstreams:
    """Those in use; one that nobody used for ten minutes is let go."""

    def __init__(self, tunnels: Tunnels) -> None:
        self._tunnels = tunnels
        self._known: dict[tuple[str, bool], Upstream] = {}
        self._alone = asyncio.Lock()

    async def of(self, guest: Guest) -> Upstream:
        """The notebook's upstream, made now when there is none for its present run.

        It is known to others only once it listens; calls that come meanwhile wait. Those who only
        read have one of their own, whose bytes are not counted.
        """
        key = (guest.workload, guest.reads)
        async with self._alone:
            now = asyncio.get_running_loop().time()
            await self._tidy(now)
            known = self._known.get(key)
            if known is not None and known.attempt != guest.attempt:
                del self._known[key]
                await known.close()
                known = None
            if known is None:
                known = Upstream(guest, self._tunnels)
                await known.start()
                self._known[key] = known
            known.used_at = now
            return known

    async def _tidy(self, now: float) -> None:
        for name, one in list(self._known.items()):
            if one.left_alone(now):
                del self._known[name]
                await one.close()
