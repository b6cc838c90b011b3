"""The few waiting jobs that a round can start: alike jobs fail alike, so the rest need no look."""

from bisect import bisect_left
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
    """Alike jobs, oldest first; `table` holds forecasts and times until a job comes or goes."""

    works: dict[int, Waiting] = field(default_factory=dict)
    keys: list[tuple[float, int]] = field(default_factory=list)
    forecasts: list[float] = field(default_factory=list)
    table: npt.NDArray[np.float64] | None = None

    def add(self, work: Waiting, rules: Rules) -> None:
        """Put a job where it belongs by its time."""
        key = (work.submitted_s, work.id)
        at = bisect_left(self.keys, key)
        self.keys.insert(at, key)
        self.forecasts.insert(at, forecast_s(work, rules))
        self.works[work.id] = work
        self.table = None

    def drop(self, work: Waiting) -> None:
        """Take a job out."""
        at = bisect_left(self.keys, (work.submitted_s, work.id))
        del self.keys[at], self.forecasts[at], self.works[work.id]
        self.table = None

    def rows(self) -> npt.NDArray[np.float64]:
        """Forecast and submission of each job, oldest first."""
        if self.table is None:
            self.table = np.empty((len(self.keys), 2), dtype=np.float64)
            self.table[:, FORECAST] = self.forecasts
            self.table[:, SUBMITTED] = [submitted for submitted, _ in self.keys]
        return self.table


@dataclass(slots=True)
class Thinner:
    """The queue of a replay, in piles of alike jobs."""

    rules: Rules
    piles: dict[Key, Pile] = field(default_factory=dict)

    def add(self, work: Waiting) -> None:
        """Put a job into the queue."""
        self.piles.setdefault(_key(work), Pile()).add(work, self.rules)

    def drop(self, work: Waiting) -> None:
        """Take a job out of the queue."""
        pile = self.piles[_key(work)]
        pile.drop(work)
        if not pile.works:
            del self.piles[_key(work)]

    def some(self, numbers: Iterable[int]) -> tuple[Waiting, ...]:
        """Those of these jobs that still wait."""
        piles = self.piles.values()
        return tuple(p.works[n] for n in sorted(set(numbers)) for p in piles if n in p.works)

    def candidates(
        self, now_s: float, limit_s: float, promised: Collection[int] = ()
    ) -> tuple[Waiting, ...]:
        """Who could start now: of each pile the first in rank, and the next in slipping order.

        That next one is looked for among all jobs and among those that end within `limit_s`,
        the time until the head starts. For those `promised` room is being made.
        """
        found: dict[int, Waiting] = {}
        rules = self.rules
        for key, pile in self.piles.items():
            rows = pile.rows()
            picks = {_next(rows, now_s, rules, np.inf), _next(rows, now_s, rules, limit_s)}
            kept = sum(number in pile.works for number in promised)
            picks |= _first(rows, key[0], rules, kept)
            numbers = (pile.keys[i][1] for i in picks if i >= 0)
            found.update((number, pile.works[number]) for number in numbers)
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
