"""Who holds which cookie, looked up again every few seconds; and that somebody did something."""

import asyncio

import structlog
from channels.db import database_sync_to_async
from django.db import DatabaseError, Error

from pool.services.notebooks.input import notebook_touched, notebook_viewed
from portal.access.passes import Guest, guest_of

log = structlog.get_logger(__name__)

KNOWN_S = 3.0
"""A login that ends, or a run that begins, is noticed after so long."""

AGAIN_S = 5.0
"""How often it is asked whether who holds a line open may still be there."""

LOOK_S = 1.0
"""The files of one notebook are looked at no more often, so that its node hardly notices."""

LONGEST_TURN_S = 5.0

TOUCH_S = 15.0
MOST_KNOWN = 5000

_guest = database_sync_to_async(guest_of)
_touched = database_sync_to_async(notebook_touched)
_viewed = database_sync_to_async(notebook_viewed)


class Guests:
    """A short memory: pages of a notebook ask for dozens of files at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[float, Guest | None]] = {}
        self._looked: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self._telling: set[asyncio.Task[None]] = set()

    async def of(self, cookie: str, uid: str, *, reads: bool = False) -> Guest | None:
        """The guest with this cookie at this notebook, or at the pages about its files."""
        now = asyncio.get_running_loop().time()
        key = (cookie, uid, "reads") if reads else (cookie, uid)
        at, guest = self._known.get(key, (0.0, None))
        if now - at < KNOWN_S:
            return guest
        found: Guest | None = await _guest(cookie=cookie, uid=uid, reads=reads)
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[key] = (now, found)
        return found

    async def looks(self, guest: Guest) -> bool:
        """Remember that somebody only looks, before they do. They wait for their turn; False when
        too many are before them."""
        now = asyncio.get_running_loop().time()
        turn = max(now, self._looked.get(guest.workload, -LOOK_S) + LOOK_S)
        if turn - now > LONGEST_TURN_S:
            return False
        if len(self._looked) >= MOST_KNOWN:
            self._looked.clear()
        self._looked[guest.workload] = turn
        await asyncio.sleep(turn - now)
        await _viewed(uid=guest.workload)
        return True

    async def left(self, cookie: str, guest: Guest) -> None:
        """Wait until this guest may no longer be there, or another run took the place of theirs.

        While the books are away nobody can lose a right either: it is asked again.
        """
        while True:
            await asyncio.sleep(AGAIN_S)
            try:
                found = await self.of(cookie, guest.workload)
            except Error as away:
                log.warning("gateway.guest_unknown", workload=guest.workload, reason=repr(away))
                continue
            if found is None or found.attempt != guest.attempt:
                return

    def forget(self) -> None:
        """Look everybody up anew."""
        self._known.clear()

    def touched(self, guest: Guest) -> None:
        """Somebody did something there; the books are told at most every 15 s."""
        now = asyncio.get_running_loop().time()
        if now - self._told.get(guest.workload, -TOUCH_S) < TOUCH_S:
            return
        if len(self._told) >= MOST_KNOWN:
            self._told.clear()
        self._told[guest.workload] = now
        task = asyncio.ensure_future(self._tell(guest.workload))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self, uid: str) -> None:
        try:
            await _touched(uid=uid)
        except DatabaseError as away:
            log.warning("gateway.input_lost", workload=uid, reason=repr(away))
