"""The agent's only line to the portal: it dials out, backs off by itself, and never gives up."""

import asyncio
import contextlib
import random
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TypeVar

import httpx
import msgspec
import websockets

from nodeagent.protocol.codec import BadMessage, decode, encode
from nodeagent.protocol.desired import Desired
from nodeagent.protocol.inventory import Hello, Join, Joined, Welcome
from nodeagent.protocol.report import Report, Taken
from nodeagent.protocol.samples import Heard, LogBatch, SampleBatch

T = TypeVar("T")

TIMEOUT_S = 10.0
KEPT_S = 60.0
"""An idle line is kept open for so long: a message comes every ten seconds, and a new line costs
both ends more than the message. The portal hangs up after 75 s, so it is never first.
"""

FIRST_WAIT_S = 0.2
LONGEST_WAIT_S = 10.0


class CutOff(Exception):
    """The portal did not answer, or not in words we know. Try again later."""


class Unknown(CutOff):
    """The portal does not know this node's credential (401)."""


class TooOld(CutOff):
    """The portal does not speak our protocol any more (426)."""


class NotTaken(CutOff):
    """The portal will never take this message (400, 413, 422): asking again is in vain."""


NEVER = frozenset({400, 413, 422})


class BackOff:
    """Waits that grow from 0.2 s to 10 s, with jitter so that a fleet does not return as one."""

    def __init__(self) -> None:
        self._wait = FIRST_WAIT_S

    def reset(self) -> None:
        """An answer came: begin anew."""
        self._wait = FIRST_WAIT_S

    def next(self) -> float:
        """How long to wait before the next try, in seconds."""
        wait = self._wait * random.uniform(0.7, 1.3)  # noqa: S311 - spreading, not secrecy
        self._wait = min(self._wait * 2, LONGEST_WAIT_S)
        return min(wait, LONGEST_WAIT_S)


class Link:
    """Messages to and from one portal, in the name of one node."""

    def __init__(self, portal: str, credential: str = "", ca: Path | None = None) -> None:
        self.portal = portal.rstrip("/")
        self.credential = credential
        self._tls = self._context(ca)
        self._http = httpx.AsyncClient(
            base_url=self.portal,
            timeout=TIMEOUT_S,
            limits=httpx.Limits(keepalive_expiry=KEPT_S),
            verify=self._tls if self._tls is not None else False,
            trust_env=False,
            headers={"Content-Type": "application/json"},
        )

    async def join(self, token: str, hello: Hello) -> Joined:
        """Spend a one-time join token; the credential is used from now on.

        Raises:
            CutOff
        """
        joined = decode(await self._post("join", Join(token=token, hello=hello)), Joined)
        self.credential = joined.credential
        return joined

    async def hello(self, hello: Hello) -> Welcome:
        """Say who we are.

        Raises:
            CutOff
        """
        return self._read(await self._post("hello", hello), Welcome)

    async def desired(self, since: tuple[int, int]) -> Desired | None:
        """The wish if it is newer than that (epoch, generation), else None.

        Raises:
            CutOff
        """
        params = {"epoch": since[0], "since": since[1]}
        body = await self._ask("GET", "desired", params=params)
        return self._read(body, Desired) if body else None

    async def report(self, report: Report) -> Taken:
        """Tell what was found.

        Raises:
            CutOff
        """
        return self._read(await self._post("report", report), Taken)

    async def samples(self, batch: SampleBatch) -> tuple[int, int | None]:
        """Hand in readings; epoch and generation of the newest wish, None where it is not told.

        Raises:
            CutOff
        """
        body = await self._post("samples", batch)
        if not body:
            return (0, None)
        heard = self._read(body, Heard)
        return (heard.epoch, heard.generation)

    async def logs(self, batch: LogBatch) -> None:
        """Hand in output.

        Raises:
            CutOff
        """
        await self._post("logs", batch)

    async def wakes(self) -> AsyncIterator[str]:
        """A word when the socket opens and each that the portal says; ends when the line is cut.

        Raises:
            CutOff
        """
        address = "ws" + self.portal.removeprefix("http") + "/gate/v1/wake"
        try:
            async with websockets.connect(
                address,
                additional_headers=self._auth(),
                ssl=self._tls,
                open_timeout=TIMEOUT_S,
                proxy=None,
                compression=None,
            ) as socket:
                yield ""
                async for word in socket:
                    yield word if isinstance(word, str) else ""
        except (OSError, TimeoutError, websockets.WebSocketException) as failure:
            raise CutOff(f"wake: {failure}") from failure

    async def close(self) -> None:
        """Hang up."""
        await self._http.aclose()

    def _auth(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.credential}"} if self.credential else {}

    async def _post(self, name: str, message: msgspec.Struct) -> bytes:
        return await self._ask("POST", name, content=encode(message))

    async def _ask(
        self,
        method: str,
        name: str,
        *,
        content: bytes | None = None,
        params: dict[str, int] | None = None,
    ) -> bytes:
        try:
            answer = await self._http.request(
                method, f"/gate/v1/{name}", content=content, params=params, headers=self._auth()
            )
        except httpx.HTTPError as failure:
            raise CutOff(f"{name}: {type(failure).__name__} {failure}") from failure
        if answer.is_success:
            return answer.content
        kind = {401: Unknown, 426: TooOld, **dict.fromkeys(NEVER, NotTaken)}.get(
            answer.status_code, CutOff
        )
        raise kind(f"{name}: {answer.status_code} {answer.text[:300]}")

    def _read(self, body: bytes, kind: type[T]) -> T:
        try:
            return decode(body, kind)
        except BadMessage as bad:
            raise CutOff(f"cannot read {kind.__name__}: {bad}") from bad

    def _context(self, ca: Path | None) -> ssl.SSLContext | None:
        if not self.portal.startswith("https://"):
            return None
        return ssl.create_default_context(cafile=None if ca is None else str(ca))


async def pause(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event, at most so long; True when it came. The event is cleared."""
    # Not wait_for: before Python 3.12 it can lose a cancellation that meets the event.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    came = event.is_set()
    event.clear()
    return came


async def pause_kept(event: asyncio.Event, seconds: float) -> None:
    """Wait for the event, at most so long, and leave it as it is."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
