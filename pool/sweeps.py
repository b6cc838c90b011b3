"""Many rows in one sweep: what goes wrong with one is told, and keeps no other from its turn."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import structlog

log = structlog.get_logger(__name__)

K = TypeVar("K")
T = TypeVar("T")


def each(keys: Iterable[K], act: Callable[[K], bool | int | None], *, of: str) -> int:
    """Act on every key, each in a transaction of its own; the sum of what was answered.

    `act` opens that transaction. A key whose act raises is written to the log under the name `of`,
    counts nothing, and is tried again by the next sweep.
    """
    done = 0
    for key in keys:
        try:
            done += act(key) or 0
        except Exception:
            log.exception("sweep.one", of=of, key=str(key))
    return done


def part(act: Callable[[], T], *, of: str, nothing: T) -> T:
    """One part of a sweep that has several; `nothing` stands for what it would have told."""
    try:
        return act()
    except Exception:
        log.exception("sweep.part", of=of)
        return nothing
