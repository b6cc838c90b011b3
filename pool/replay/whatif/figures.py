"""What a replay shows: waits, use, work that gave way; by team, by model, over time."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from pool.carving.sizes import MICRO
from pool.replay.whatif.engine import Run
from pool.replay.whatif.trace import Trace
from pool.scheduling.model import Snapshot

DAY_S = 86_400.0
STEPS = 120
"""So many points a picture over time has."""


@dataclass(slots=True)
class Tally:
    """One team's figures in the making. Times in seconds, use in card-seconds."""

    jobs: int = 0
    waits: list[float] = field(default_factory=list)
    card_s: float = 0.0
    gave_way: int = 0
    lost_card_s: float = 0.0

    def told(self) -> dict[str, Any]:
        """As it is kept; a wait that nobody had is None. `never` found no place at all."""
        waits = sorted(self.waits)
        return {
            "jobs": self.jobs,
            "never": self.jobs - len(waits),
            "mean_wait_s": round(sum(waits) / len(waits), 1) if waits else None,
            "p50_wait_s": at_share(waits, 0.5),
            "p95_wait_s": at_share(waits, 0.95),
            "longest_wait_s": at_share(waits, 1.0),
            "card_hours": round(self.card_s / 3600, 2),
            "gave_way": self.gave_way,
            "lost_card_hours": round(self.lost_card_s / 3600, 2),
        }


Spent = tuple[str, int, str, str, str]
"""Team, partition, card model, mode, price class."""


@dataclass(slots=True)
class Days:
    """Card-seconds in all, and of a period of the books those of each of its days."""

    total: float = 0.0
    days: list[float] = field(default_factory=list)

    def add(self, run: Run, trace: Trace, cards: float) -> None:
        """What of the run lies in the period, day by day from its begin."""
        at, end = max(run.start_s, trace.since_s), min(run.end_s, trace.until_s)
        day = int((at - trace.since_s) // DAY_S)
        while at < end:
            # The next day is counted, not worked out: a sum of floats need not give its day back.
            stop = min(end, trace.since_s + (day + 1) * DAY_S)
            self.days += [0.0] * (day + 1 - len(self.days))
            self.days[day] += max(0.0, stop - at) * cards
            at, day = max(at, stop), day + 1

    def told(self) -> list[Any]:
        """As it is kept."""
        total = round(self.total, 3)
        return [total, [round(one, 1) for one in self.days]] if self.days else [total]


def at_share(values: Sequence[float], share: float) -> float | None:
    """The smallest value that this share of the sorted values does not pass; None without any."""
    if not values:
        return None
    return round(values[max(0, ceil(round(len(values) * share, 6)) - 1)], 1)


def figures(
    trace: Trace,
    snapshot: Snapshot,
    runs: Iterable[Run],
    names: Mapping[int, str],
    *,
    whole: bool = False,
) -> dict[str, Any]:
    """Everything that is kept of one replay, as JSON; the same replay gives the same bytes.

    What began before the period is replayed, but its wait is not counted; what was held counts
    within the period only, unless the trace is counted `whole`: card-hours are then those of every
    run to its end.
    """
    known = {work.number: work for work in trace.works}
    teams: dict[str, Tally] = defaultdict(Tally)
    for work in trace.works:
        teams[trace.kinds[work.kind].team].jobs += work.counted
    spent: dict[Spent, Days] = defaultdict(Days)
    busy: dict[tuple[int, str], float] = defaultdict(float)
    first: dict[int, float] = {}
    picture, seal = Picture(trace.since_s, trace.until_s), hashlib.sha256()
    for run in runs:
        seal.update(repr(run).encode())
        kind = trace.kinds[known[run.number].kind]
        tally = teams[kind.team]
        first[run.number] = min(run.start_s, first.get(run.number, run.start_s))
        inside = min(run.end_s, trace.until_s) - max(run.start_s, trace.since_s)
        cards = sum(micro for _, _, micro in run.parts) / MICRO
        tally.gave_way += run.evicted
        tally.lost_card_s += run.lost_s * cards
        picture.held(run.start_s, run.end_s, cards)
        counted = run.end_s - run.start_s if whole else max(0.0, inside)
        tally.card_s += counted * cards
        for label, mode, micro in run.parts:
            busy[run.partition, label] += max(0.0, inside) * micro / MICRO
            key = (kind.team, run.partition, label, mode, kind.price_class)
            spent[key].total += counted * micro / MICRO
            if not whole:
                spent[key].add(run, trace, micro / MICRO)
    for number, start in sorted(first.items()):
        work = known[number]
        picture.waited(work.arrives_s, start)
        if work.counted:
            teams[trace.kinds[work.kind].team].waits.append(start - work.submit_s)
    return {
        "total": _total(teams.values()),
        "teams": {name: teams[name].told() for name in sorted(teams)},
        "models": _models(trace, snapshot, busy, spent, names),
        "spent": [[*key, *one.told()] for key, one in sorted(spent.items()) if one.total],
        "picture": picture.told(),
        "digest": seal.hexdigest(),
    }


def _total(teams: Iterable[Tally]) -> dict[str, Any]:
    whole = Tally()
    for one in teams:
        whole.jobs += one.jobs
        whole.waits += one.waits
        whole.card_s += one.card_s
        whole.gave_way += one.gave_way
        whole.lost_card_s += one.lost_card_s
    return whole.told()


def _models(
    trace: Trace,
    snapshot: Snapshot,
    busy: Mapping[tuple[int, str], float],
    spent: Mapping[Spent, Days],
    names: Mapping[int, str],
) -> list[dict[str, Any]]:
    """Each model of each partition: cards, and how much of their time was held."""
    counts: dict[tuple[int, str], int] = defaultdict(int)
    for card in snapshot.cards:
        counts[card.partition, card.label] += 1
    hours: dict[tuple[int, str], float] = defaultdict(float)
    for (_team, place, label, _mode, _class), one in spent.items():
        hours[place, label] += one.total / 3600
    span = max(1.0, trace.until_s - trace.since_s)
    return [
        {
            "partition": names.get(place, str(place)),
            "model": label,
            "cards": count,
            "card_hours": round(hours.get((place, label), 0.0), 2),
            "use_milli": round(1000 * busy.get((place, label), 0.0) / (count * span)),
        }
        for (place, label), count in sorted(counts.items())
    ]


class Picture:
    """Cards held and work that waits, in the mean of equal steps of the period."""

    def __init__(self, since_s: float, until_s: float) -> None:
        self._since = since_s
        self._step = max(1.0, until_s - since_s) / STEPS
        self._cards = [0.0] * STEPS
        self._works = [0.0] * STEPS

    def held(self, start_s: float, end_s: float, cards: float) -> None:
        """So many cards were held from then to then."""
        self._add(self._cards, start_s, end_s, cards)

    def waited(self, start_s: float, end_s: float) -> None:
        """One workload waited from then to then."""
        self._add(self._works, start_s, end_s, 1.0)

    def told(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "step_s": round(self._step, 1),
            "cards": [round(value / self._step, 2) for value in self._cards],
            "waiting": [round(value / self._step, 2) for value in self._works],
        }

    def _add(self, into: list[float], start_s: float, end_s: float, weight: float) -> None:
        first = max(0, int((start_s - self._since) // self._step))
        for at in range(first, STEPS):
            begin = self._since + at * self._step
            inside = min(end_s, begin + self._step) - max(start_s, begin)
            if begin >= end_s:
                return
            if inside > 0:
                into[at] += inside * weight
