"""Messages to bytes and back: JSON, checked on the way in."""

from typing import TypeVar

import msgspec

from nodeagent.protocol.version import MAX_BODY_BYTES

T = TypeVar("T")


class BadMessage(ValueError):
    """What arrived is no message of this protocol."""


def encode(message: msgspec.Struct) -> bytes:
    """One message as JSON bytes."""
    return msgspec.json.encode(message)


def decode(body: bytes, kind: type[T]) -> T:
    """Bytes back to a message of the kind that is expected there.

    Raises:
        BadMessage: too large, not JSON, or not of that shape; the text names the field.
    """
    if len(body) > MAX_BODY_BYTES:
        raise BadMessage(f"message of {len(body)} bytes is over the limit of {MAX_BODY_BYTES}")
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as bad:
        raise BadMessage(str(bad)) from bad
