"""The replay's own time: what happens next, in order, without a clock."""

import heapq
from dataclasses import dataclass, field


@dataclass(slots=True)
class Clock:
    """Events by time. At one instant what comes in with the lower `rank` goes first."""

    now_s: float = 0.0
    events: list[tuple[float, int, int, int]] = field(default_factory=list)

    def add(self, at_s: float, rank: int, number: int, turn: int = 0) -> None:
        """Let something happen to `number` at that time; `turn` tells its later lives apart."""
        heapq.heappush(self.events, (at_s, rank, number, turn))

    def due(self) -> list[tuple[int, int, int]]:
        """Everything that happens next, at one instant; moves the time there. Empty at the end."""
        if not self.events:
            return []
        self.now_s = self.events[0][0]
        found = []
        while self.events and self.events[0][0] == self.now_s:
            _, rank, number, turn = heapq.heappop(self.events)
            found.append((rank, number, turn))
        return found
