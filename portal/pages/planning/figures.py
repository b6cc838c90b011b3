"""The figures of capacity planning: made once an hour for each circle of readers, then kept."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TypeVar

from django.core.cache import cache

from billing.selectors.stranded import card_days
from pool.clock import now
from pool.lifecycle.roles import Role
from pool.rules.planning.scatter import Dot
from pool.rules.planning.trend import Trend, trend_of
from pool.rules.planning.verdict import LONG_DAYS, Evidence, Verdict, judge
from pool.selectors.memberships import Standing
from pool.selectors.planning.demand import Demand, demand_by_model
from pool.selectors.planning.evidence import ALL, Period, evidence, period
from pool.selectors.planning.pieces import PiecesDay, pieces_by_day
from pool.selectors.planning.use import dots
from portal.access.roles import MAY, Verb

KEPT_S = 3600
"""Readings are condensed by the hour: nothing newer could be said before."""

LONGEST = timedelta(days=366)
"""A period to compare is no longer."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Model:
    """One card model: its weekly demand, and the line through it where there are enough weeks."""

    demand: Demand
    trend: Trend | None

    @property
    def last(self) -> float | None:
        """What was wanted in the week that ended last."""
        return self.demand.weeks[-1] if self.demand.weeks else None


def reach(standing: Standing) -> Standing:
    """Whose teams somebody may compare: all for the platform, else organizations one runs."""
    if standing.platform:
        return ALL
    mine = standing.in_organizations(Role.ORG_ADMIN)
    return Standing(organizations={Role.ORG_ADMIN: mine})


def sees_capacity(standing: Standing) -> bool:
    """Whether somebody runs the platform or an organization."""
    if standing.platform:
        return True
    return any(
        ids and Verb.CAPACITY_SEE in MAY[role] for role, ids in standing.organizations.items()
    )


def this_hour() -> datetime:
    """The last full hour: figures end there."""
    return now().astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def verdict_for(standing: Standing) -> tuple[Evidence, Verdict]:
    """What four weeks say. The choice rests on all teams; a reader sees those within reach."""
    until = this_hour()
    whole = _kept("evidence", ALL, until, lambda: evidence(until=until))
    told = judge(whole)
    seen = reach(standing)
    if seen is ALL:
        return whole, told
    mine = _kept("evidence", seen, until, lambda: evidence(until=until, standing=seen))
    known = {team.slug for team in mine.teams}
    return mine, Verdict(
        choice=told.choice,
        spare=tuple(team for team in told.spare if team.slug in known),
        busy=tuple(team for team in told.busy if team.slug in known),
        spare_cards=told.spare_cards,
        wanted_cards=told.wanted_cards,
        missing_days=told.missing_days,
    )


def corners_for(standing: Standing) -> list[Dot]:
    """Kinds of work of the last four weeks."""
    until, seen = this_hour(), reach(standing)
    since = until - timedelta(days=LONG_DAYS)
    return _kept("dots", seen, until, lambda: dots(since=since, until=until, standing=seen))


def models() -> list[Model]:
    """Demand by card model over a quarter, with its line."""
    until = this_hour()
    found = _kept("demand", ALL, until, lambda: demand_by_model(until=until))
    return [Model(one, trend_of(one.weeks, one.cards)) for one in found]


@dataclass(frozen=True, slots=True)
class Room:
    """One day of all cards, in cards in the mean; None where the ledger has not come yet."""

    pieces: PiecesDay
    stranded: float | None


def room_by_day() -> list[Room]:
    """Free room in pieces and stranded room of each of the last four weeks' days."""
    until = this_hour().replace(hour=0)
    since = until - timedelta(days=LONG_DAYS)

    def made() -> list[Room]:
        told = {one.day: one.stranded / 24 for one in card_days(since=since, until=until)}
        days = pieces_by_day(since=since, until=until)
        return [Room(one, told.get(one.day)) for one in days]

    return _kept("room", ALL, until, made)


def period_for(standing: Standing, since: datetime, until: datetime) -> Period:
    """One period in figures, for the teams within reach."""
    seen = reach(standing)
    return _kept(
        f"period {since.isoformat()}",
        seen,
        until,
        lambda: period(since=since, until=until, standing=seen),
    )


def _kept(name: str, seen: Standing, until: datetime, make: Callable[[], T]) -> T:
    """What was made in this hour for readers of the same reach, else made now."""
    circle = f"{seen.platform} {sorted(seen.in_organizations(*Role))}"
    said = f"{name} {until.isoformat()} {this_hour().isoformat()} {circle}"
    key = f"planning-{sha256(said.encode()).hexdigest()[:40]}"
    found: T | None = cache.get(key)
    if found is None:
        found = make()
        cache.set(key, found, KEPT_S)
    return found
