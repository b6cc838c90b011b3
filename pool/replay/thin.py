"""The few waiting jobs that a round can start: alike jobs fail alike, so the rest need no look."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pool.scheduling.calendar import forecast_s
from pool.scheduling.model import PriorityClass, Rules, Waiting
from pool.scheduling.order import CLASS_RANK

Key = tuple[int, *tuple[object, ...]]
"""What makes jobs alike: their class first, then all that decides whether they find a place."""

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


def by_size(work: Waiting) -> Key:
    """Alike where all jobs want whole cards of one pool: class, cards, tenant."""
    return (CLASS_RANK[work.priority_class], work.need.parts, work.tenants[0])


@dataclass(slots=True)
class Thinner:
    """The queue of a replay, in piles of alike jobs."""

    rules: Rules
    alike: Callable[[Waiting], Key] = by_size
    piles: dict[Key, Pile] = field(default_factory=dict)

    def add(self, work: Waiting) -> None:
        """Put a job into the queue."""
        self.piles.setdefault(self.alike(work), Pile()).add(work, self.rules)

    def drop(self, work: Waiting) -> None:
        """Take a job out of the queue."""
        key = self.alike(work)
        pile = self.piles[key]
        pile.drop(work)
        if not pile.works:
            del self.piles[key]

    def some(self, numbers: Iterable[int]) -> tuple[Waiting, ...]:
        """Those of these jobs that still wait."""
        piles = self.piles.values()
        return tuple(p.works[n] for n in sorted(set(numbers)) for p in piles if n in p.works)

    def candidates(
        self,
        now_s: float,
        limit_s: float | Callable[[Waiting], float],
        promised: Collection[int] = (),
        *,
        each: int = 1,
    ) -> tuple[Waiting, ...]:
        """Who could start now: of each pile the first in rank, and the next in slipping order.

        So many of each as `each` says: a round that starts fewer of a pile has seen enough of it.

        That next one is looked for among all jobs and among those that end within `limit_s`,
        the time until the head starts, of all or as the pile's first says. For those `promised`
        room is being made.
        """
        found: dict[int, Waiting] = {}
        rules = self.rules
        for key, pile in self.piles.items():
            rows = pile.rows()
            first = pile.works[pile.keys[0][1]]
            limit = limit_s(first) if callable(limit_s) else limit_s
            picks = _next(rows, now_s, rules, np.inf, each)
            if limit < np.inf:
                picks |= _next(rows, now_s, rules, limit, each)
            kept = sum(number in pile.works for number in promised)
            picks |= _first(rows, key[0], rules, kept + each - 1)
            numbers = (pile.keys[i][1] for i in picks)
            found.update((number, pile.works[number]) for number in numbers)
        return tuple(found.values())


def _first(rows: npt.NDArray[np.float64], rank: int, rules: Rules, kept: int) -> set[int]:
    """The first in rank of this class: as many as may hold planned starts or have `kept` room."""
    later = 0.0 if rank > CLASS_RANK[PriorityClass.NORMAL] else rules.length_most_s
    order = rows[:, SUBMITTED] + np.minimum(rows[:, FORECAST], later)
    count = min(rules.heads + kept, len(order))
    return set(np.argsort(order, kind="stable")[:count].tolist())


def _next(
    rows: npt.NDArray[np.float64], now_s: float, rules: Rules, limit_s: float, each: int
) -> set[int]:
    """The next in slipping order among those no longer than the limit: so many, if there are."""
    forecast, submitted = rows[:, FORECAST], rows[:, SUBMITTED]
    if rules.shortest_first:
        rank = forecast / (1.0 + (now_s - submitted) / rules.slip_age_s)
    else:
        rank = submitted
    fits = np.flatnonzero(forecast <= limit_s)
    if len(fits) <= each:
        return set(fits.tolist())
    if each == 1:
        return {int(fits[np.argmin(rank[fits])])}
    order = np.argsort(rank[fits], kind="stable")[:each]
    return set(fits[order].tolist())
