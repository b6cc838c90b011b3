"""Traces and pools as packed JSON: the same content gives the same bytes."""

import hashlib
import zlib
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

MOST_UNPACKED = 512 * 1024 * 1024
"""Nothing of ours is larger; what is was not written by us."""

_ENCODER = msgspec.json.Encoder(order="deterministic")


def packed(value: Any) -> bytes:
    """The value in few bytes; sets are put in order first."""
    return zlib.compress(_ENCODER.encode(value), 6)


def unpacked(data: bytes | memoryview, kind: type[T]) -> T:
    """What was packed.

    Raises:
        ValueError: it is larger than anything that is packed here.
    """
    opened = zlib.decompressobj()
    text = opened.decompress(bytes(data), MOST_UNPACKED)
    if opened.unconsumed_tail:
        raise ValueError("more than is ever packed")
    return msgspec.json.decode(text, type=kind)


def seal(*parts: Any) -> str:
    """A digest of values, whatever the order in their sets and objects."""
    found = hashlib.sha256()
    for part in parts:
        found.update(_ENCODER.encode(part))
        found.update(b"\n")
    return found.hexdigest()
