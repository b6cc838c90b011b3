"""How often somebody may knock: a counter a process, which needs no database and no Valkey.

Several web processes each count for themselves, so a limit holds per process.
"""

import threading
import time


class Rate:
    """At most `limit` knocks a key in each span of `seconds`; keeps no more than `most` keys."""

    def __init__(self, *, limit: int, seconds: float, most: int = 10_000) -> None:
        self.limit = limit
        self.seconds = seconds
        self._most = most
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[float, int]] = {}

    def knock(self, key: str, *, now: float | None = None) -> float:
        """Count one knock. 0 when it is allowed, otherwise the seconds to wait."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            began, count = self._seen.get(key, (moment, 0))
            if moment - began >= self.seconds:
                began, count = moment, 0
            if key not in self._seen and len(self._seen) >= self._most:
                self._forget(moment)
            self._seen[key] = (began, count + 1)
        return 0.0 if count < self.limit else max(began + self.seconds - moment, 0.001)

    def clear(self) -> None:
        """Forget every knock."""
        with self._lock:
            self._seen.clear()

    def _forget(self, moment: float) -> None:
        """Drop spans that are over; if all still run, drop all: a flood must not cost memory."""
        living = {k: v for k, v in self._seen.items() if moment - v[0] < self.seconds}
        self._seen = living if len(living) < self._most else {}
