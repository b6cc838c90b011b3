"""The agents' wake sockets: the portal says "wake", the agent only listens and then pulls."""

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

import structlog
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from portal.gate.auth import credential, node_of
from portal.live.ear import Listener, ear

log = structlog.get_logger(__name__)

WAKE = "wake"
LONGEST_S = 3600.0
"""A socket is closed after an hour, so that the agent shows its credential again."""


class Bell:
    """The wake sockets of one process. After a time without the layer it wakes every node."""

    def __init__(self) -> None:
        self._sockets: dict[str, set[WakeSocket]] = {}
        self._listener = Listener(self._heard, self._all)
        self._sending: set[asyncio.Task[None]] = set()

    def add(self, socket: "WakeSocket") -> None:
        """Ring for this socket from now on, and once as soon as nothing can be missed any more."""
        self._sockets.setdefault(socket.node, set()).add(socket)
        ear().join(self._listener)
        if ear().hears:
            self._ring(socket)

    async def drop(self, socket: "WakeSocket") -> None:
        """Ring for it no more; with the last socket the ear closes."""
        waiting = self._sockets.get(socket.node, set())
        waiting.discard(socket)
        if not waiting:
            self._sockets.pop(socket.node, None)
        if not self._sockets:
            await ear().leave(self._listener)

    def _heard(self, message: dict[str, Any]) -> None:
        if message.get("type") == "wake":
            for socket in self._sockets.get(str(message.get("node")), ()):
                self._ring(socket, str(message.get("word", WAKE)))

    def _all(self) -> None:
        for sockets in self._sockets.values():
            for socket in sockets:
                self._ring(socket)

    def _ring(self, socket: "WakeSocket", word: str = WAKE) -> None:
        task = asyncio.ensure_future(socket.wake(word))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)


_bells: WeakKeyDictionary[asyncio.AbstractEventLoop, Bell] = WeakKeyDictionary()


def bell() -> Bell:
    """The one bell of this process (of this event loop)."""
    return _bells.setdefault(asyncio.get_running_loop(), Bell())


class WakeSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One agent's socket; it hears nothing that the agent says."""

    channel_layer_alias = None
    node = ""

    async def connect(self) -> None:
        """Let the node in by its credential; anybody else is refused before the handshake ends."""
        found = await database_sync_to_async(node_of)(self._credential())
        if found is None:
            await self.close()
            return
        self.node = found.uid
        await self.accept()
        bell().add(self)
        self._end = asyncio.get_running_loop().call_later(LONGEST_S, self._expire)

    async def disconnect(self, code: int) -> None:
        """Forget the socket."""
        if self.node:
            self._end.cancel()
            await bell().drop(self)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """What an agent says here means nothing."""

    async def wake(self, word: str = WAKE) -> None:
        """Say that there is something new; an agent that is gone will pull when it is back."""
        try:
            await self.send(text_data=word)
        except OSError as gone:
            log.debug("wake.gone", node=self.node, reason=repr(gone))

    def _credential(self) -> str:
        for name, value in self.scope["headers"]:
            if name == b"authorization":
                return credential(value.decode("latin-1"))
        return ""

    def _expire(self) -> None:
        self._closing = asyncio.ensure_future(self.close(code=1001))
