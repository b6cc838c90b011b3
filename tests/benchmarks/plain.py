"""First come first served with plain best fit: the published baseline, without the planner.

Kept apart from the product on purpose: the planner's own first come first served already gains
from where it places, so a ratio to it alone would hide half of what the planner does.
"""

import heapq
from dataclasses import dataclass, field


@dataclass
class Plain:
    """Nodes of equal cards; a job of at most one node's cards stays inside one node."""

    nodes: int
    cards: int
    free: list[int] = field(default_factory=list)
    ends: list[tuple[float, list[tuple[int, int]]]] = field(default_factory=list)

    def __post_init__(self):
        self.free = [self.cards] * self.nodes

    def ended(self, now_s):
        """Give back what has ended by then."""
        while self.ends and self.ends[0][0] <= now_s:
            for node, count in heapq.heappop(self.ends)[1]:
                self.free[node] += count

    def place(self, gpus):
        """Node and count of each part: whole nodes, then the fullest node that has the rest."""
        full, rest = divmod(gpus, self.cards)
        empty = [node for node, count in enumerate(self.free) if count == self.cards]
        if len(empty) < full:
            return None
        parts = [(node, self.cards) for node in empty[:full]]
        if rest:
            taken = set(empty[:full])
            fits = [(count, n) for n, count in enumerate(self.free) if n not in taken]
            fits = [one for one in fits if one[0] >= rest]
            if not fits:
                return None
            parts.append((min(fits)[1], rest))
        return parts

    def run(self, parts, until_s):
        """Take the parts until then."""
        for node, count in parts:
            self.free[node] -= count
        heapq.heappush(self.ends, (until_s, parts))


def first_come(jobs, nodes, cards):
    """The wait of every job in seconds: nobody starts before whoever came earlier."""
    pool, now, waits = Plain(nodes, cards), 0.0, {}
    for job in sorted(jobs, key=lambda one: (one.submit_s, one.number)):
        now = max(now, job.submit_s)
        pool.ended(now)
        while (parts := pool.place(job.gpus)) is None:
            now = max(now, pool.ends[0][0])
            pool.ended(now)
        pool.run(parts, now + job.duration_s)
        waits[job] = now - job.submit_s
    return waits
