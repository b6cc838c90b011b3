"""A socket of the node to which jobs post their speed; each has an address of its own."""

import asyncio
import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from nodeagent import disk

MOST_BODY = 4096
MOST_HEAD = 8192
LIMIT_S = 5.0
"""For a whole call."""

MOST_CALLS = 64
"""At the same time; more are closed at once."""

SOCKET = "sock"
LONGEST = 104
"""Characters of a socket's path."""


class Push:
    """Takes `POST /v1/throughput/<token>` with a small JSON body; nothing else is answered."""

    def __init__(
        self, state_dir: Path, work_root: Path, take: Callable[[str, bytes], bool]
    ) -> None:
        self._key_file = state_dir / "throughput.key"
        owner = hashlib.sha256(str(state_dir).encode()).hexdigest()[:8]
        self.folder = work_root / f"push-{owner}"
        self._take = take
        self._calls = 0
        self._server: asyncio.Server | None = None

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.folder / SOCKET

    @property
    def open(self) -> bool:
        """Whether it listens now."""
        return self._server is not None

    def token(self, attempt: str) -> str:
        """What only this attempt is told; the same after a restart of the agent."""
        try:
            key = self._key_file.read_bytes()
        except OSError:
            # Work starts in threads: the first key stands for all of them.
            key = disk.write_first(self._key_file, secrets.token_bytes(32))
        return hmac.new(key, attempt.encode(), hashlib.sha256).hexdigest()[:32]

    def variables(self, attempt: str) -> dict[str, str]:
        """Where the attempt posts; nothing while nobody listens."""
        if not self.open:
            return {}
        return {
            "GPUPOOL_THROUGHPUT_SOCKET": str(self.socket),
            "GPUPOOL_THROUGHPUT_URL": f"http://pool/v1/throughput/{self.token(attempt)}",
        }

    async def listen(self) -> bool:
        """Open the socket; false when this node cannot have it."""
        if len(str(self.socket)) > LONGEST:
            return False
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o711, exist_ok=True)
            self.folder.chmod(0o711)
            self.socket.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(
                self._answer, str(self.socket), limit=MOST_HEAD
            )
            os.chmod(self.socket, 0o666)  # noqa: S103, PTH101 - each caller shows its token
        return self.open

    async def close(self) -> None:
        """Take nothing more."""
        if self._server is not None:
            self._server.close()
            self._server = None
            self.socket.unlink(missing_ok=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._calls += 1
        try:
            if self._calls <= MOST_CALLS:
                async with asyncio.timeout(LIMIT_S):
                    status = await self._status(reader)
                    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n".encode())
                    writer.write(b"Connection: close\r\n\r\n")
                    await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return
        finally:
            self._calls -= 1
            writer.close()

    async def _status(self, reader: asyncio.StreamReader) -> str:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        words = head[0].split(" ")
        fields = dict(
            (name.strip().lower(), value.strip())
            for name, _, value in (line.partition(":") for line in head[1:])
        )
        size = fields.get("content-length", "")
        if len(words) != 3 or words[0] not in ("POST", "PUT"):
            return "405 Method Not Allowed"
        # `isdigit` alone takes signs that `int` does not.
        if not (size.isascii() and size.isdigit()) or int(size) > MOST_BODY:
            return "413 Content Too Large"
        body = await reader.readexactly(int(size))
        fine = self._take(words[1].rpartition("/")[2], body)
        return "204 No Content" if fine else "400 Bad Request"
