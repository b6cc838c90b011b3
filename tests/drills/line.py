"""The line between agents and portal, which the drills cut, hold up, and make stutter."""

import asyncio
import contextlib
import socket
import ssl
import threading

LONGEST_HEAD = 64 * 1024


class Line:
    """Forwards each connection to the portal, in a thread of its own.

    `cut`: whoever dials is hung up on, and open lines break. `deaf`: what agents say arrives, and
    the answer is lost, so that they say it again. `twice`: the portal hears each message twice.
    `held`: messages arrive late by so many seconds.
    """

    def __init__(
        self,
        portal: int,
        at: tuple[str, ...] = ("127.0.0.1",),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.portal = portal
        self._at, self._tls = at, tls
        self.cut = self.deaf = self.twice = False
        self.held = 0.0
        self.heard = self.lost = self.doubled = 0
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        with socket.create_server((at[0], 0)) as bound:
            self.port = int(bound.getsockname()[1])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def set(self, **how: bool | float) -> None:
        """From now on the line is so; a cut breaks what is open."""
        for name, value in how.items():
            setattr(self, name, value)
        if self.cut:
            self._loop.call_soon_threadsafe(self._break)

    def well(self) -> None:
        """Nothing is wrong with it any more."""
        self.set(cut=False, deaf=False, twice=False, held=0.0)

    def close(self) -> None:
        """The end of the line."""
        self.cut = True
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(10)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        """Until it is closed; then every line that is open breaks, and each is seen out."""
        server = await asyncio.start_server(self._carry, self._at, self.port, ssl=self._tls)
        await self._over.wait()
        server.close()
        self._break()
        mine = asyncio.current_task()
        while rest := [task for task in asyncio.all_tasks() if task is not mine]:
            await asyncio.wait(rest, timeout=1.0)

    def _break(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def _carry(self, come: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        self._open.add(back)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, ValueError):
                await self._talk(come, back)
        finally:
            self._open.discard(back)
            back.close()

    async def _talk(self, come: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        while not self.cut:
            head = await come.readuntil(b"\r\n\r\n")
            if b"upgrade: websocket" in head.lower():
                await self._pipe(head, come, back)
                return
            body = await come.readexactly(_size(head))
            await asyncio.sleep(self.held)
            self.heard += 1
            answer = await self._ask(head + body)
            if self.twice and head.startswith(b"POST"):
                self.doubled += 1
                answer = await self._ask(head + body)
            if self.deaf or self.cut:
                self.lost += 1
                return
            back.write(answer)
            await back.drain()

    async def _ask(self, said: bytes) -> bytes:
        """One request on a connection of its own; the whole answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.portal)
        try:
            writer.write(said)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            return head + await reader.readexactly(_size(head))
        finally:
            writer.close()

    async def _pipe(
        self, head: bytes, come: asyncio.StreamReader, back: asyncio.StreamWriter
    ) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.portal)
        self._open.add(writer)
        writer.write(head)
        try:
            await asyncio.gather(_pour(come, writer), _pour(reader, back))
        finally:
            self._open.discard(writer)
            writer.close()


async def _pour(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Until one side hangs up."""
    while body := await source.read(LONGEST_HEAD):
        target.write(body)
        await target.drain()
    target.close()


def _size(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0
