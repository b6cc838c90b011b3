"""Has an announcement been lost? The log itself is asked, for nobody else would know.

The channel layer may die and come back between two echoes, and takes up its subscriptions again
without a word. What was announced meanwhile is lost, on the side of those who announce too.
"""

from channels.db import database_sync_to_async

from pool.selectors.events import Page, Place, events_after, log_end

LOOK_S = 3.0
"""The log is asked so often, with one query a process."""

MOST_KEPT = 10_000


def _page(place: Place) -> Page:
    return events_after(place=place, kinds=())


_end = database_sync_to_async(log_end)
_after = database_sync_to_async(_page)


class Missed:
    """Compares the numbers that were heard with those in the log, a look later."""

    def __init__(self) -> None:
        self._place: Place | None = None
        self._heard: set[int] = set()
        self._waited_for: set[int] = set()
        self._next = 0.0

    def heard(self, number: int) -> None:
        """An event was announced."""
        self._heard.add(number)

    async def any(self, now: float) -> bool:
        """True when the log holds an event that was there at the last look and is still unheard."""
        if now < self._next:
            return False
        self._next = now + LOOK_S
        if self._place is None:
            self._place = await _end()
            return False
        page = await _after(self._place)
        lost = self._waited_for - self._heard
        self._heard -= self._waited_for
        self._place, self._waited_for = page.place, set(page.numbers)
        if len(self._heard) > MOST_KEPT:
            self._heard.clear()
            return True
        return bool(lost)
