"""One browser's place at the hub: what it looks at, and what still has to be sent to it.

A fragment waits in a slot of its topic, so that a slow socket is sent the newest picture and
never a queue of old ones.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from pool.models import User


@dataclass(slots=True)
class LogPlace:
    """How far a log was sent: `attempt` 0 is before the first run; `end` once all was said."""

    attempt: int = 0
    offset: int | None = None
    end: bool = False


@dataclass(eq=False, slots=True)
class Seat:
    """A socket's subscriptions and outbox. `projects` None sees all."""

    user: User
    language: str
    session: str
    projects: frozenset[int] | None = frozenset()
    keys: dict[str, str] = field(default_factory=dict)
    logs: dict[str, LogPlace] = field(default_factory=dict)
    outbox: dict[str, bytes] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    gone: bool = False

    def put(self, topic: str, message: bytes) -> None:
        """Send this next; what still waits for the topic is out of date."""
        self.outbox[topic] = message
        self.ready.set()

    def show(self, topic: str, html: str, message: bytes) -> None:
        """Send a picture, unless it is the one that is shown; an empty one is a poke, and sent."""
        if html and self.shown.get(topic) == hash(html):
            return
        self.shown[topic] = hash(html)
        self.put(topic, message)

    def refuse(self, topic: str) -> None:
        """Say that there is no such topic, or that it is not for this person."""
        self.leave(topic)
        self.put(topic, said(topic=topic, error="not_found"))

    def leave(self, topic: str) -> None:
        """Look away."""
        self.keys.pop(topic, None)
        self.logs.pop(topic, None)
        self.shown.pop(topic, None)
        self.outbox.pop(topic, None)

    def take(self) -> list[tuple[str, bytes]]:
        """Everything that waits."""
        waiting = list(self.outbox.items())
        self.outbox.clear()
        self.ready.clear()
        return waiting


def said(**message: Any) -> bytes:
    """One message to a browser."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
