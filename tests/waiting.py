"""Waiting for a condition with a deadline, instead of sleeping and hoping."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(look: Callable[[], T], *, seconds: float = 30.0, what: str = "") -> T:
    """The first true answer of `look`.

    Raises:
        AssertionError: the time is over; the last answer is in the message.
    """
    end = time.monotonic() + seconds
    while not (answer := look()):
        assert time.monotonic() < end, f"{what or look} within {seconds:g} s; last: {answer!r}"
        time.sleep(0.02)
    return answer
