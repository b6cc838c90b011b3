"""Who brings what and when: a made-up stream with days, nights, weekends and a growing demand."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from nodeagent.protocol.vocabulary import ExitReason
from portal.demo.teams import LINES, Line

DAY_SHAPE = (
    *(0.35, 0.3, 0.25, 0.25, 0.3, 0.4, 0.6, 0.9),
    *(1.4, 1.8, 1.9, 1.8, 1.4, 1.7, 1.9, 1.8),
    *(1.6, 1.3, 1.1, 0.9, 0.8, 0.7, 0.6, 0.45),
)
"""How much comes in each hour of a day, around 1."""

WEEKEND = 0.4
GROWTH = 0.3
"""Demand at the end is so much above that at the beginning."""

SHORTEST_S, LONGEST_S = 120.0, 6 * 86_400.0

ENDS: Mapping[ExitReason, float] = {
    ExitReason.OWN_ERROR: 0.07,
    ExitReason.OOM_CARD: 0.02,
    ExitReason.CANCELLED: 0.05,
}
"""How often work of people ends otherwise than well, and where not at all: it then ends early."""

FORGOTTEN = 0.45
"""So many notebooks are left alone until they are reclaimed, two hours later."""

IDLE_S = 7200.0


@dataclass(frozen=True, slots=True)
class Wish:
    """One piece of work that somebody will bring. Times in seconds; `who` counts the team's people.

    `runs_s` is how long it takes when nobody interrupts it, `idle_s` the quiet end of it.
    """

    line: Line
    submit: datetime
    who: int
    name: str
    runs_s: float
    declared_s: int
    end: ExitReason
    urgent: bool
    idle_s: float = 0.0
    pitch: float = 1.0


def wishes(
    *,
    since: datetime,
    until: datetime,
    seed: int,
    cards: Mapping[str, int],
    zones: Mapping[str, str],
) -> list[Wish]:
    """The whole stream in the order in which it comes; the same seed brings the same.

    `cards` counts those of each partition, `zones` are the teams' own.
    """
    found: list[Wish] = []
    for number, line in enumerate(LINES):
        if cards.get(line.partition):
            chance = Random(f"{seed}:{number}")  # noqa: S311 - a story, no secret
            found += _line(line, chance, since, until, cards[line.partition], zones[line.team])
    return sorted(found, key=_order)


def _order(wish: Wish) -> tuple[datetime, str, str]:
    return (wish.submit, wish.line.team, wish.name)


def _line(
    line: Line, chance: Random, since: datetime, until: datetime, cards: int, zone: str
) -> Iterator[Wish]:
    """Hour by hour, as many as chance brings at that hour of that weekday."""
    usual_h = line.median_h * math.exp(line.spread**2 / 2) * 0.94
    each = max(line.parts, 1) * line.piece * usual_h
    hourly = line.load * cards / each
    place, hours = ZoneInfo(zone), int((until - since).total_seconds() // 3600)
    for number in range(hours):
        hour = since + timedelta(hours=number)
        here = hour.astimezone(place)
        shape = DAY_SHAPE[here.hour] * (WEEKEND if here.weekday() >= 5 else 1.24)
        grown = 1 - GROWTH / 2 + GROWTH * number / max(1, hours)
        for _one in range(_poisson(chance, hourly * shape * grown)):
            yield _wish(line, chance, hour + timedelta(seconds=chance.uniform(0, 3600)))


def _wish(line: Line, chance: Random, submit: datetime) -> Wish:
    runs = line.median_h * 3600 * math.exp(chance.gauss(0, line.spread))
    runs = min(max(runs, SHORTEST_S), LONGEST_S)
    end, idle = ExitReason.FINISHED, 0.0
    if line.template == "notebook":
        end = ExitReason.RECLAIMED if chance.random() < FORGOTTEN else ExitReason.CANCELLED
        idle = IDLE_S if end is ExitReason.RECLAIMED else 0.0
    else:
        end = _end(chance)
    whole = runs
    if end in ENDS and line.template != "notebook":
        runs = max(SHORTEST_S, runs * chance.uniform(0.02, 0.6))
    declared = round(whole * chance.uniform(1.0, 2.2) / 600 + 1) * 600
    return Wish(
        line=line,
        submit=submit,
        who=chance.randrange(1000),
        name=f"{chance.choice(line.names)}-{chance.randrange(100, 1000)}",
        runs_s=round(runs + idle, 3),
        declared_s=int(declared + idle),
        end=end,
        urgent=chance.random() < line.urgent,
        idle_s=idle,
        pitch=min(1.15, max(0.6, chance.gauss(1.0, 0.1))),
    )


def _end(chance: Random) -> ExitReason:
    drawn = chance.random()
    for end, share in ENDS.items():
        drawn -= share
        if drawn < 0:
            return end
    return ExitReason.FINISHED


def _poisson(chance: Random, mean: float) -> int:
    """How many events of that mean; by waiting times, which is exact and quick for small means."""
    count, left = 0, chance.expovariate(1.0)
    while left < mean:
        count += 1
        left += chance.expovariate(1.0)
    return count
