"""The embedded Valkey: broker, channel layer and fast cache; nothing in it needs to survive."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import redis

from portal.up.binaries import valkey_program


@dataclass(frozen=True)
class Valkey:
    """One server on a unix socket with a password; its data live in memory only."""

    folder: Path
    sockets: Path
    password: str
    program: Path

    @classmethod
    def found(cls, *, folder: Path, sockets: Path, password: str) -> "Valkey":
        """With the wheel's program.

        Raises:
            Refused: there is none for this platform.
        """
        return cls(folder, sockets, password, valkey_program())

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.sockets / "v.sock"

    @property
    def url(self) -> str:
        """Its address in redis-py's spelling, database 0."""
        return self.address(0)

    def address(self, number: int) -> str:
        """The address of one of its numbered databases."""
        return f"unix://:{quote(self.password)}@{quote(str(self.socket))}?db={number}"

    @property
    def command(self) -> list[str]:
        """The server's command line; there is no configuration file."""
        return [
            str(self.program),
            *("--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"),
            *("--requirepass", self.password, "--save", "", "--appendonly", "no"),
            *("--maxmemory", "256mb", "--maxmemory-policy", "noeviction"),
            *("--databases", "64", "--loglevel", "warning", "--dir", str(self.folder)),
        ]

    def create(self) -> None:
        """Its folder, used for nothing but crash reports."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def clear(self) -> None:
        """Forget the socket of a dead server."""
        self.socket.unlink(missing_ok=True)

    def answers(self) -> bool:
        """Does it take a command now?"""
        link = redis.Redis.from_url(self.url, socket_timeout=2, socket_connect_timeout=2)
        try:
            return bool(link.ping())
        except (redis.RedisError, OSError):
            return False
        finally:
            link.close()
