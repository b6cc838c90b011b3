"""Connections into notebooks: the agent dials the gateway and carries bytes to a local socket."""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import websockets

from nodeagent.notebooks.door import way_in
from nodeagent.protocol.notebooks import TunnelAsk

log = logging.getLogger(__name__)

READ_BYTES = 64 * 1024
DIAL_S = 10.0
LARGEST_FRAME = 1024 * 1024
PING_S = 20.0
MOST_OPEN = 512
"""Connections of one node at a time; the gateway hears nothing of one more and gives up."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

Count = Callable[[str, int], None]


class Tunnels:
    """One node's open connections. `count` is told how many bytes an attempt moved, but for those
    of people who only look at it."""

    def __init__(self, count: Count, ca: Path | None = None) -> None:
        self._count = count
        self._ca = ca
        self._open: set[asyncio.Task[None]] = set()

    def open(self, ask: TunnelAsk, home: Path) -> None:
        """Dial and carry until either side ends; what fails is only told to the log."""
        if len(self._open) >= MOST_OPEN:
            log.warning("%s: too many connections at a time", ask.attempt)
            return
        task = asyncio.create_task(self._carry(ask, home))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    def close(self) -> None:
        """Hang up everywhere."""
        for task in list(self._open):
            task.cancel()

    async def _carry(self, ask: TunnelAsk, home: Path) -> None:
        """The local socket is opened first: a gateway that is answered has a whole connection."""
        try:
            tls = self._tls(ask.url)
            with way_in(home) as path:
                reader, writer = await asyncio.open_unix_connection(path)
            try:
                async with websockets.connect(
                    ask.url,
                    ssl=tls,
                    open_timeout=DIAL_S,
                    max_size=LARGEST_FRAME,
                    ping_interval=PING_S,
                    ping_timeout=PING_S,
                    compression=None,
                    proxy=None,
                ) as socket:
                    counted = "" if ask.looks else ask.attempt
                    out = self._out(counted, reader, socket)
                    await _first_ends(out, self._in(counted, socket, writer))
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
        except (OSError, TimeoutError, ValueError, websockets.WebSocketException) as failure:
            log.info("%s: a connection ended: %r", ask.attempt, failure)

    async def _out(
        self, attempt: str, reader: asyncio.StreamReader, socket: websockets.ClientConnection
    ) -> None:
        while body := await reader.read(READ_BYTES):
            if attempt:
                self._count(attempt, len(body))
            await socket.send(body)

    async def _in(
        self, attempt: str, socket: websockets.ClientConnection, writer: asyncio.StreamWriter
    ) -> None:
        async for body in socket:
            if isinstance(body, bytes):
                if attempt:
                    self._count(attempt, len(body))
                writer.write(body)
                await writer.drain()

    def _tls(self, url: str) -> ssl.SSLContext | None:
        """Plain only to this machine itself, as for the portal.

        Raises:
            ValueError: the gateway would be dialled in plain text over the network.
        """
        parts = urlsplit(url)
        if parts.scheme == "wss":
            return ssl.create_default_context(cafile=None if self._ca is None else str(self._ca))
        if parts.scheme != "ws" or parts.hostname not in LOOPBACK:
            raise ValueError(f"{parts.scheme}://{parts.hostname} is no gateway for tunnels")
        return None


async def _first_ends(*ways: Awaitable[None]) -> None:
    """Run both ways until one of them ends; its failure is ours."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
