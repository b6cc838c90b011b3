"""Typed reads of the environment; nothing else in the project reads os.environ.

Where `DATABASE_URL` or `REDIS_URL` is absent, the connection file that `manage.py up` leaves in
its data folder is read, so that other commands work beside a running stack. With neither, settings
still import: commands that need no database run anywhere.
"""

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parents[2]


def text(name: str, default: str = "") -> str:
    """A string; empty when absent and no default is given."""
    return os.environ.get(name, default).strip()


def required(name: str) -> str:
    """A string that must be there.

    Raises:
        ImproperlyConfigured: it is absent or empty.
    """
    value = text(name)
    if not value:
        raise ImproperlyConfigured(f"{name} is not set; see deploy/gpupool.env.example")
    return value


def flag(name: str, default: bool = False) -> bool:
    """A switch: 1, true, yes, on (any case) are true."""
    value = text(name)
    return value.lower() in {"1", "true", "yes", "on"} if value else default


def number(name: str, default: int) -> int:
    """A whole number.

    Raises:
        ImproperlyConfigured: it is there and is none.
    """
    value = text(name)
    try:
        return int(value) if value else default
    except ValueError as bad:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}") from bad


def names(name: str) -> list[str]:
    """A comma-separated list."""
    return [part.strip() for part in text(name).split(",") if part.strip()]


def data_dir() -> Path:
    """The embedded stack's data folder: `GPUPOOL_DATA_DIR`, by default `.data` in the project."""
    return Path(text("GPUPOOL_DATA_DIR") or ROOT / ".data").absolute()


@lru_cache(maxsize=1)
def connection() -> dict[str, Any]:
    """What `up` wrote about its engines; empty when it has not run."""
    try:
        found = json.loads((data_dir() / "run" / "connection.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    if not isinstance(found, dict):
        raise ImproperlyConfigured(f"{data_dir()}/run/connection.json is damaged; start `up` again")
    return found


@dataclass(frozen=True)
class RedisAddress:
    """One Redis or Valkey, in the spellings its three clients want."""

    url: str

    @property
    def for_celery(self) -> str:
        """Celery spells a unix socket `redis+socket://`."""
        if not self.url.startswith("unix://"):
            return self.url
        return "redis+socket://" + self.url.removeprefix("unix://").replace(
            "?db=", "?virtual_host="
        )

    @property
    def for_redis_py(self) -> str:
        """redis-py, the cache and Channels spell it `unix://`."""
        return self.url


def database() -> dict[str, Any]:
    """Django's dictionary for the one database, from a URL or from `up`'s file."""
    url = text("DATABASE_URL") or str(connection().get("database_url", ""))
    if not url:
        return {}
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured("DATABASE_URL must start with postgresql://")
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    host = query.pop("host", "") or unquote(parts.hostname or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "OPTIONS": dict(query),
    }


def redis() -> RedisAddress:
    """Broker, channel layer and fast cache; an address where nothing listens when none is set."""
    url = text("REDIS_URL") or str(connection().get("redis_url", ""))
    return RedisAddress(url or "redis://127.0.0.1:1/0")
