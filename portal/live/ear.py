"""One ear a web process and group: hears the channel layer, and notices when the layer is away.

Valkey may be lost at any time. The ear then tries again for ever, and says so when it hears again,
so that whoever listens can look at the truth instead of trusting that nothing was missed.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog
from channels.layers import get_channel_layer

log = structlog.get_logger(__name__)

QUIET_S = 5.0
"""Silence after which the ear calls itself; as long again without an answer: the layer is away."""
SLOWEST_S = 5.0

Heard = Callable[[dict[str, Any]], None]


class Ear:
    """Hands every message of a group to `heard`, and calls `back` whenever it (again) hears."""

    def __init__(
        self,
        group: str,
        *,
        heard: Heard,
        back: Callable[[], None],
        quiet_s: float = QUIET_S,
    ) -> None:
        self.hears = False
        self._group = group
        self._heard = heard
        self._back = back
        self._quiet_s = quiet_s
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Begin to listen in the running loop; twice is once."""
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._always())

    async def close(self) -> None:
        """Stop listening."""
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
                if self.hears:
                    delay = 0.2
                log.warning("ear.deaf", group=self._group, reason=repr(away))
            self.hears = False
            await asyncio.sleep(delay)
            delay = min(delay * 2, SLOWEST_S)

    async def _listen(self) -> None:
        """Subscribe and hear until the layer fails.

        Raises:
            Exception: whatever the layer raises; TimeoutError when it has gone silent.
        """
        layer = get_channel_layer()
        async with asyncio.timeout(self._quiet_s):
            channel = await layer.new_channel("ear.")
            await layer.group_add(self._group, channel)
        self.hears = True
        self._back()
        try:
            await self._hear(layer, channel)
        finally:
            await self._leave(layer, channel)

    async def _hear(self, layer: Any, channel: str) -> None:
        asked = False
        while True:
            coming = asyncio.ensure_future(layer.receive(channel))
            try:
                await asyncio.wait({coming}, timeout=self._quiet_s)
                while not coming.done():
                    if asked:
                        raise TimeoutError("the channel layer does not answer")
                    asked = True
                    async with asyncio.timeout(self._quiet_s):
                        await layer.send(channel, {"type": "echo"})
                    await asyncio.wait({coming}, timeout=self._quiet_s)
            except BaseException:
                coming.cancel()
                await asyncio.wait({coming})
                raise
            asked = False
            message = coming.result()
            if message.get("type") != "echo":
                self._heard(message)

    async def _leave(self, layer: Any, channel: str) -> None:
        try:
            async with asyncio.timeout(1):
                await layer.group_discard(self._group, channel)
        except Exception as away:  # the layer may be the very thing that failed
            log.info("ear.left", group=self._group, reason=repr(away))
