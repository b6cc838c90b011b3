"""The few waiting jobs that a round can start: alike jobs fail alike, so the rest need no look."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pool.scheduling.calendar import forecast_s
from pool.scheduling.model import PriorityClass, Rules, Waiting
from pool.scheduling.order import CLASS_RANK

Key = tuple[int, int, str]
"""What makes jobs alike: class, cards, tenant."""

FORECAST, SUBMITTED = 0, 1


@dataclass(slots=True)
class Pile:
    """Alike jobs by number; `table` holds their forecasts and times, rebuilt when they change."""

    works: dict[int, Waiting] = field(default_factory=dict)
    order: list[Waiting] = field(default_factory=list)
    table: npt.NDArray[np.float64] | None = None

    def rows(self, rules: Rules) -> npt.NDArray[np.float64]:
        """Forecast and submission of each job, oldest first."""
        if self.table is None:
            self.order = sorted(self.works.values(), key=lambda w: (w.submitted_s, w.id))
            pairs = [(forecast_s(work, rules), work.submitted_s) for work in self.order]
            self.table = np.array(pairs, dtype=np.float64)
        return self.table


@dataclass(slots=True)
class Thinner:
    """The queue of a replay, in piles of alike jobs."""

    piles: dict[Key, Pile] = field(default_factory=dict)

    def add(self, work: Waiting) -> None:
        """Put a job into the queue."""
        pile = self.piles.setdefault(_key(work), Pile())
        pile.works[work.id] = work
        pile.table = None

    def drop(self, work: Waiting) -> None:
        """Take a job out of the queue."""
        pile = self.piles[_key(work)]
        del pile.works[work.id]
        pile.table = None
        if not pile.works:
            del self.piles[_key(work)]

    def some(self, numbers: Iterable[int]) -> tuple[Waiting, ...]:
        """Those of these jobs that still wait."""
        piles = self.piles.values()
        return tuple(p.works[n] for n in sorted(set(numbers)) for p in piles if n in p.works)

    def candidates(
        self, now_s: float, rules: Rules, limit_s: float, promised: Collection[int] = ()
    ) -> tuple[Waiting, ...]:
        """Who could start now: of each pile the first in rank, and the next in slipping order.

        That next one is looked for among all jobs and among those that end within `limit_s`,
        the time until the head starts. For those `promised` room is being made.
        """
        found: dict[int, Waiting] = {}
        for key, pile in self.piles.items():
            rows = pile.rows(rules)
            picks = {_next(rows, now_s, rules, np.inf), _next(rows, now_s, rules, limit_s)}
            kept = sum(number in pile.works for number in promised)
            picks |= _first(rows, key[0], rules, kept)
            found.update((pile.order[i].id, pile.order[i]) for i in picks if i >= 0)
        return tuple(found.values())


def _first(rows: npt.NDArray[np.float64], rank: int, rules: Rules, kept: int) -> set[int]:
    """The first in rank of this class: as many as may hold planned starts or have `kept` room."""
    later = 0.0 if rank > CLASS_RANK[PriorityClass.NORMAL] else rules.length_most_s
    order = rows[:, SUBMITTED] + np.minimum(rows[:, FORECAST], later)
    count = min(rules.heads + kept, len(order))
    return set(np.argsort(order, kind="stable")[:count].tolist())


def _next(rows: npt.NDArray[np.float64], now_s: float, rules: Rules, limit_s: float) -> int:
    """The next in slipping order among those no longer than the limit, or -1."""
    forecast, submitted = rows[:, FORECAST], rows[:, SUBMITTED]
    if rules.shortest_first:
        rank = forecast / (1.0 + (now_s - submitted) / rules.slip_age_s)
    else:
        rank = submitted
    fits = forecast <= limit_s
    if not fits.any():
        return -1
    return int(np.argmin(np.where(fits, rank, np.inf)))


def _key(work: Waiting) -> Key:
    return (CLASS_RANK[work.priority_class], work.need.parts, work.tenants[0])
