"""One ear a web process: hears the channel layer, and notices when the layer is away.

Valkey may be lost at any time. The ear then begins anew, and says so when it hears again, so that
whoever listens looks at the truth instead of trusting that nothing was missed.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import structlog
from channels.layers import get_channel_layer

from pool.announce import GROUP, NODES

log = structlog.get_logger(__name__)

ECHO_S = 5.0
"""So often the ear calls itself through every group; a call that does not come back is a loss."""
SLOWEST_S = 5.0


@dataclass(eq=False, frozen=True, slots=True)
class Listener:
    """`heard` is given every message; `back` is called whenever the ear (again) hears."""

    heard: Callable[[dict[str, Any]], None]
    back: Callable[[], None]


class Ear:
    """Listens while somebody does; `hears` is true while nothing can be missed."""

    def __init__(self, *, echo_s: float = ECHO_S, groups: tuple[str, ...] = (GROUP, NODES)) -> None:
        self.hears = False
        self._echo_s = echo_s
        self._groups = groups
        self._listeners: set[Listener] = set()
        self._task: asyncio.Task[None] | None = None

    def join(self, listener: Listener) -> None:
        """Listen too. `back` follows as soon as the ear hears, at once if it does already."""
        if listener in self._listeners:
            return
        self._listeners.add(listener)
        if self.hears:
            listener.back()
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._always())

    async def leave(self, listener: Listener) -> None:
        """Listen no more; after the last one the ear is closed."""
        self._listeners.discard(listener)
        if self._listeners:
            return
        task, self._task = self._task, None
        self.hears = False
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _always(self) -> None:
        delay = 0.2
        while True:
            try:
                await self._listen()
            except Exception as away:  # redis-py's errors have no base in common
                delay = 0.2 if self.hears else delay
                log.warning("ear.deaf", reason=repr(away))
            self.hears = False
            await _begin_anew()
            await asyncio.sleep(delay)
            delay = min(delay * 2, SLOWEST_S)

    async def _listen(self) -> None:
        """Subscribe and hear until the layer fails.

        Raises:
            Exception: whatever the layer raises; TimeoutError when it does not answer.
        """
        layer = get_channel_layer()
        async with asyncio.timeout(self._echo_s):
            channel = await layer.new_channel("ear.")
            for group in self._groups:
                await layer.group_add(group, channel)
        self.hears = True
        for listener in list(self._listeners):
            listener.back()
        missing: set[str] = set()
        reader = asyncio.ensure_future(self._read(layer, channel, missing))
        try:
            while True:
                await asyncio.wait({reader}, timeout=self._echo_s)
                if reader.done():
                    reader.result()
                if missing:
                    raise TimeoutError("the channel layer does not answer")
                missing |= set(self._groups)
                async with asyncio.timeout(self._echo_s):
                    for group in self._groups:
                        await layer.group_send(group, {"type": "echo", "group": group})
        finally:
            reader.cancel()
            await asyncio.wait({reader})

    async def _read(self, layer: Any, channel: str, missing: set[str]) -> None:
        while True:
            message = await layer.receive(channel)
            if message.get("type") == "echo":
                missing.discard(message["group"])
                continue
            for listener in list(self._listeners):
                listener.heard(message)


async def _begin_anew() -> None:
    """Drop the layer's connections and what it believes to be subscribed to."""
    try:
        async with asyncio.timeout(2):
            await get_channel_layer().flush()
    except Exception as away:  # the layer is the very thing that failed
        log.info("ear.flush", reason=repr(away))


_ears: WeakKeyDictionary[asyncio.AbstractEventLoop, Ear] = WeakKeyDictionary()


def ear() -> Ear:
    """The one ear of this process (of this event loop)."""
    return _ears.setdefault(asyncio.get_running_loop(), Ear())
