"""PURE: buy, optimise first, or leave it: one verdict with the numbers that carry it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

LEAST_DAYS = 7.0
"""Of readings; below it there is no verdict."""

LONG_DAYS = 28.0
"""What is called idle must have been so for so long, or for all that was measured."""

IDLE_MILLI = 200
"""Below this mean use, what is held is not needed."""

BUSY_MILLI = 600
"""From this mean use on, a team uses what it holds."""

SEVERAL = 2
"""So many busy teams that wait speak for buying; one alone can be given what others leave."""

BAND_LOW_MILLI, BAND_HIGH_MILLI = 700, 850
"""Where use should be: below, cards lie idle; above, nothing is left for bursts."""


class Choice(StrEnum):
    """What the numbers say."""

    TOO_EARLY = "too_early"
    OPTIMISE = "optimise"
    BUY = "buy"
    KEEP = "keep"


class Band(StrEnum):
    """Where a mean use lies."""

    UNKNOWN = "unknown"
    BELOW = "below"
    WITHIN = "within"
    ABOVE = "above"


@dataclass(frozen=True, slots=True)
class TeamUse:
    """One project over the span. Cards are card equivalents in the mean; a wait is in seconds.

    `use_milli` is the mean use of what it held, in thousandths, None when nothing was measured.
    Waits are None where nothing started.
    """

    slug: str
    name: str
    held_cards: float
    use_milli: int | None
    p95_wait_s: float | None
    started: int = 0
    p50_wait_s: float | None = None

    @property
    def used_cards(self) -> float:
        """Cards that would do at full use."""
        return self.held_cards * (self.use_milli or 0) / 1000

    @property
    def spare_cards(self) -> int:
        """Whole cards it could give back and still stay at the lower end of the band."""
        if self.use_milli is None or self.use_milli >= IDLE_MILLI:
            return 0
        return math.floor(self.held_cards - self.used_cards / (BAND_LOW_MILLI / 1000))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was measured. `days` is the time with readings, `use_milli` the mean of all cards.

    `known_milli` is the share of the cards' time in which use was measured.
    """

    days: float
    cards: float
    use_milli: int | None
    known_milli: int
    target_s: int
    teams: Sequence[TeamUse]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The choice and what it rests on; `spare` and `busy` are teams, the weightiest first.

    `spare_cards` could be given back, `wanted_cards` would bring the busy teams into the band.
    """

    choice: Choice
    spare: tuple[TeamUse, ...] = ()
    busy: tuple[TeamUse, ...] = ()
    spare_cards: int = 0
    wanted_cards: int = 0
    missing_days: int = 0


def judge(evidence: Evidence) -> Verdict:
    """Buy only where several teams use what they hold, wait too long, and nobody has enough spare.

    What lies idle comes first: the pool as a whole, or teams that could give cards back.
    """
    if evidence.days < LEAST_DAYS or evidence.use_milli is None:
        missing = max(1, math.ceil(LEAST_DAYS - evidence.days))
        return Verdict(Choice.TOO_EARLY, missing_days=missing)
    spare = tuple(sorted((t for t in evidence.teams if t.spare_cards), key=_by_spare))
    busy = tuple(sorted((t for t in evidence.teams if _busy(t, evidence.target_s)), key=_by_wait))
    spare_cards = sum(team.spare_cards for team in spare)
    wanted = sum(_wanted(team) for team in busy)
    choice = Choice.KEEP
    if len(busy) >= SEVERAL and wanted > spare_cards and evidence.use_milli >= IDLE_MILLI:
        choice = Choice.BUY
    elif evidence.use_milli < IDLE_MILLI or spare_cards:
        choice = Choice.OPTIMISE
    return Verdict(choice, spare, busy, spare_cards, max(0, wanted - spare_cards))


def band_of(use_milli: int | None) -> Band:
    """Where a mean use lies against 70 to 85 %."""
    if use_milli is None:
        return Band.UNKNOWN
    if use_milli < BAND_LOW_MILLI:
        return Band.BELOW
    return Band.WITHIN if use_milli <= BAND_HIGH_MILLI else Band.ABOVE


def _busy(team: TeamUse, target_s: int) -> bool:
    waits = team.p95_wait_s is not None and team.p95_wait_s > target_s
    return waits and team.use_milli is not None and team.use_milli >= BUSY_MILLI


def _wanted(team: TeamUse) -> int:
    """Whole cards that would bring its use to the middle of the band; at least one."""
    middle = (BAND_LOW_MILLI + BAND_HIGH_MILLI) / 2000
    return max(1, math.ceil(team.used_cards / middle - team.held_cards))


def _by_spare(team: TeamUse) -> tuple[int, str]:
    return (-team.spare_cards, team.slug)


def _by_wait(team: TeamUse) -> tuple[float, str]:
    return (-(team.p95_wait_s or 0.0), team.slug)
