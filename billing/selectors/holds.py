"""Holds with all that decides what they cost."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import QuerySet

from billing.models.usage import Usage
from billing.rating.charge import Charge, Item, hourly
from billing.rating.intervals import SECOND_US, Span, corrected, micros
from billing.rating.tariffs import Rate
from billing.selectors.prices import RateKey, priced_items, rates_of
from pool.models.placements import Hold


@dataclass(frozen=True, slots=True)
class HeldPart:
    """One hour's part of a hold. `running` means that it may still grow."""

    hour_us: int
    span: Span
    charge: Charge
    running: bool


@dataclass(frozen=True, slots=True)
class RatedHold:
    """A hold, and the items that it is charged for: none when its attempt is not billable.

    Whose bill it is on, and in which currency, is what its first row says, when there is one: its
    project may have moved since.
    """

    hold: Hold
    items: tuple[Item, ...]
    organization: int
    currency: str

    @property
    def open(self) -> bool:
        """Is it still held?"""
        return self.hold.held.upper is None

    def span(self, until: datetime) -> Span:
        """What counts of it up to now; the node's own count, where one was put beside it."""
        start = micros(self.hold.held.lower)
        end = micros(self.hold.held.upper or until)
        count = self.hold.corrected_s
        counted = None if count is None or self.open else round(count * SECOND_US)
        return corrected(Span(start, max(start, end)), counted)

    def parts(self, until: datetime, *, since_us: int = 0) -> list[HeldPart]:
        """One part an hour from `since_us` on; the last one runs on while the hold is open."""
        span = self.span(until)
        return [
            HeldPart(hour, part, charge, self.open and part.end_us == span.end_us)
            for hour, part, charge in hourly(self.items, span, since_us=since_us)
        ]


def database_now() -> datetime:
    """The clock that writes the spans of holds; the only one that their open ends are read by."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pool_now()")
        found: datetime = cursor.fetchone()[0]
    return found


def rated_holds(*, holds: QuerySet[Hold], as_written: bool = False) -> list[RatedHold]:
    """The holds with their rates, in two queries whatever their number.

    `as_written` takes one more: whose they are is what their rows say, also where the project has
    moved to another organization or currency meanwhile.
    """
    rows = list(
        holds.select_related(
            "card",
            "placement__attempt__workload__project__organization",
            "placement__attempt__workload__template_version",
        ).order_by("pk")
    )
    named = {row.placement.partition_id for row in rows}
    rates = rates_of(partitions={one for one in named if one is not None})
    written = _written(rows) if as_written else {}
    found = []
    for row in rows:
        home = row.placement.attempt.workload.project.organization
        whose, currency = written.get(row.pk, (home.pk, home.currency))
        found.append(RatedHold(row, tuple(_items(row, rates, currency)), whose, currency))
    return found


def _written(rows: list[Hold]) -> dict[int, tuple[int, str]]:
    """Organization and currency of each hold that has a row."""
    told = Usage.objects.filter(hold__in=[row.pk for row in rows]).order_by("hold", "hour")
    named = told.distinct("hold").values_list("hold", "organization", "currency")
    return {hold: (whose, currency) for hold, whose, currency in named if hold is not None}


def _items(hold: Hold, rates: dict[RateKey, list[Rate]], currency: str) -> Iterable[Item]:
    attempt = hold.placement.attempt
    if not attempt.billable:
        return ()
    return priced_items(
        rates,
        partition=hold.placement.partition_id,
        currency=currency,
        card_model=hold.card.label if hold.card else "",
        mode=hold.mode,
        price_class=attempt.workload.template_version.price_class,
        equivalents_micro=hold.equivalents_micro,
        cpu_milli=hold.cpu_milli,
        ram_mib=hold.ram_mib,
    )
