"""Waiting for a condition with a deadline, instead of sleeping and hoping."""

import asyncio
import time

DEADLINE_S = 20.0


async def until(holds, what="the condition"):
    """Return what `holds` gives once it is true."""
    ends = time.monotonic() + DEADLINE_S
    while time.monotonic() < ends:
        value = holds()
        if value:
            return value
        await asyncio.sleep(0.02)
    raise AssertionError(f"{what} never came true")
