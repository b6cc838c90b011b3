"""Where agents come to when a connection is wanted: each id is named to one node and used once."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings

from nodeagent.protocol.codec import encode
from nodeagent.protocol.notebooks import TunnelAsk
from pool.announce import node_told

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

DIG_S = 10.0
"""How long an agent may take to come; it is woken at once when its line stands."""

READ_BYTES = 64 * 1024
PATH = "/tunnel/"


class NoTunnel(Exception):
    """The node did not come: it is silent, or the notebook is not there."""


@dataclass
class End:
    """The gateway's end of one tunnel, as long as `over` is not set."""

    receive: Receive
    send: Send
    over: asyncio.Event = field(default_factory=asyncio.Event)


_tell = database_sync_to_async(node_told)


class Tunnels:
    """The tunnels of this process; their ids are worth nothing to any other."""

    def __init__(self) -> None:
        self._wanted: dict[str, asyncio.Future[End]] = {}

    async def dig(self, *, node: str, attempt: str, looks: bool = False) -> End:
        """Ask the node for one connection to the attempt's socket and wait for it.

        What somebody who only `looks` moves through it is not counted as use.

        Raises:
            NoTunnel: nobody came in time.
        """
        name = secrets.token_urlsafe(32)
        came: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self._wanted[name] = came
        url = f"{settings.GATEWAY_SELF}{PATH}{name}"
        try:
            ask = TunnelAsk(attempt=attempt, url=url, looks=looks)
            await _tell(node, encode(ask).decode())
            async with asyncio.timeout(DIG_S):
                return await came
        except TimeoutError:
            raise NoTunnel("the node does not answer") from None
        finally:
            self._wanted.pop(name, None)

    async def meet(self, name: str, receive: Receive, send: Send) -> None:
        """An agent has dialled: let it in when its id is awaited, and hold the line to its end."""
        await receive()
        came = self._wanted.pop(name, None)
        if came is None or came.done():
            await send({"type": "websocket.close", "code": 4404})
            return
        await send({"type": "websocket.accept"})
        end = End(receive, send)
        came.set_result(end)
        await end.over.wait()


async def carry(end: End, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Bytes both ways until one side is done; the tunnel is over then, whatever happened."""
    ways = [asyncio.ensure_future(_out(end, reader)), asyncio.ensure_future(_in(end, writer))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        writer.close()
        try:
            await end.send({"type": "websocket.close", "code": 1000})
        except (OSError, RuntimeError):  # the agent hung up first
            end.over.set()
        end.over.set()


async def _out(end: End, reader: asyncio.StreamReader) -> None:
    while body := await reader.read(READ_BYTES):
        await end.send({"type": "websocket.send", "bytes": body})


async def _in(end: End, writer: asyncio.StreamWriter) -> None:
    while (message := await end.receive())["type"] == "websocket.receive":
        writer.write(message.get("bytes") or b"")
        await writer.drain()
