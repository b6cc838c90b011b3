"""Names of rows for people and scripts: a noun prefix and a UUIDv7 (RFC 9562), sortable by time."""

import secrets
import time
import uuid
from functools import partial
from typing import Any

from django.db import models


def new_uid(prefix: str) -> str:
    """A fresh `prefix-…` uid; the first 48 bits are milliseconds since 1970."""
    stamp = time.time_ns() // 1_000_000
    tail = secrets.randbits(74)
    value = (stamp & (1 << 48) - 1) << 80 | 0x7 << 76 | (tail >> 62) << 64 | 0b10 << 62
    return f"{prefix}-{uuid.UUID(int=value | tail & (1 << 62) - 1)}"


class UidField(models.CharField):  # type: ignore[type-arg]
    """A unique, never changing uid with its noun's prefix."""

    def __init__(self, *args: object, prefix: str = "x", **kwargs: object) -> None:
        self.prefix = prefix
        kwargs.setdefault("max_length", 48)
        kwargs.setdefault("unique", True)
        kwargs.setdefault("editable", False)
        kwargs["default"] = partial(new_uid, prefix)
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, path, args, kwargs = super().deconstruct()
        del kwargs["default"]
        return name, path, args, {**kwargs, "prefix": self.prefix}
