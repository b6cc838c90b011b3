"""How often a topic is drawn: at once after a quiet time, then no oftener than its pace.

Whoever is touched too early is not forgotten but waits, and is drawn once for all that came.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pool.topics import USE
from portal.live.relevance import LOG
from portal.live.seat import Seat

PACE_S = 1.0
"""One picture a second and topic."""

USE_S = 5.0
"""How busy the whole pool is comes in node by node; a bar moves often enough so."""


class Pace:
    """When each topic may be drawn again, and who waits for it. Times are of a steady clock."""

    def __init__(self) -> None:
        self._free_at: dict[str, float] = {}
        self._waiting: dict[str, set[Seat]] = defaultdict(set)

    def take(
        self, wanted: Mapping[str, list[Seat]], now: float
    ) -> Iterator[tuple[str, list[Seat]]]:
        """Of what is touched now, or waits: what may be drawn, each topic with its seats."""
        for topic, seats in wanted.items():
            self._waiting[topic].update(seats)
        self._free_at = {topic: at for topic, at in self._free_at.items() if at > now}
        for topic in [one for one in self._waiting if one not in self._free_at]:
            seats = [one for one in self._waiting.pop(topic) if topic in one.keys and not one.gone]
            if not seats:
                continue
            if not topic.startswith(LOG):
                self._free_at[topic] = now + (USE_S if topic == USE else PACE_S)
            yield topic, seats

    def due_in(self, now: float) -> float | None:
        """Seconds until somebody who waits may be drawn for; None when nobody waits."""
        due = [self._free_at.get(topic, now) for topic in self._waiting]
        return max(min(due) - now, 0.0) if due else None
