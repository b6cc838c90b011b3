"""What the card-hours of a replay would cost: by the prices of the period, or of today."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

from billing.rating.charge import Item, rate_at
from billing.rating.intervals import micros
from billing.selectors.holds import database_now
from billing.selectors.prices import RateKey, priced_items, rates_of

Spent = Iterable[Sequence[Any]]
"""Team, partition, card model, mode, price class, seconds of whole cards; then, of a period of the
books, the seconds of each of its days.
"""

CARD_MICRO = 1_000_000
DAY_US = 86_400_000_000
HUNDRED = 100


@dataclass(frozen=True, slots=True)
class PriceChange:
    """The prices of some cards in per cent of the book's; empty names mean all. `partition` is a
    key.
    """

    percent: int
    partition: int | None = None
    model: str = ""

    def fits(self, partition: int, model: str) -> bool:
        """Whether it says something of these cards."""
        return self.partition in (None, partition) and self.model in ("", model)


@dataclass(slots=True)
class Costs:
    """The prices that count, asked once."""

    currency: str
    since_us: int | None
    now_us: int
    rates: dict[RateKey, list[Any]]
    changes: Sequence[PriceChange]
    known: dict[tuple[Any, ...], tuple[Item, ...]] = field(default_factory=dict)

    def of(self, row: Sequence[Any]) -> int | None:
        """What one row costs, in 10⁻⁶ of the currency; None where some of it has no price."""
        _team, partition, label, mode, price_class, seconds, *days = row
        items = self._items(partition, label, mode, price_class)
        if self.since_us is None or not days:
            rate = rate_at(items, self.now_us)
            cost = None if rate is None else rate * seconds / 3600
        else:
            cost = self._daily(items, days[0])
        percent = [c.percent for c in self.changes if c.fits(partition, label)]
        return None if cost is None else round(cost * (percent[-1] if percent else HUNDRED) / 100)

    def _items(self, partition: int, label: str, mode: str, price_class: str) -> tuple[Item, ...]:
        key = (partition, label, mode, price_class)
        if key not in self.known:
            self.known[key] = priced_items(
                self.rates,
                partition=partition,
                currency=self.currency,
                card_model=label,
                mode=mode,
                price_class=price_class,
                equivalents_micro=CARD_MICRO,
                cpu_milli=0,
                ram_mib=0,
            )
        return self.known[key]

    def _daily(self, items: tuple[Item, ...], days: Sequence[float]) -> float | None:
        """Day by day at the mean price of each day."""
        cost = 0.0
        for number, seconds in enumerate(days):
            if seconds:
                begin = (self.since_us or 0) + number * DAY_US
                rate = _mean(items, begin, begin + DAY_US)
                if rate is None:
                    return None
                cost += rate * seconds / 3600
        return cost


def _mean(items: tuple[Item, ...], start_us: int, end_us: int) -> float | None:
    """The mean price of an hour over a span in which it may change."""
    ends = {edge for one in items for t in one.tariffs for edge in (t.start_us, t.end_us)}
    edges = sorted({start_us, end_us, *(edge for edge in ends if start_us < edge < end_us)})
    total = 0.0
    for begin, end in pairwise(edges):
        rate = rate_at(items, begin)
        if rate is None:
            return None
        total += rate * (end - begin)
    return total / (end_us - start_us)


def costs_of(
    spent: Spent,
    *,
    currency: str,
    since: datetime | None = None,
    changes: Sequence[PriceChange] = (),
) -> dict[str, int | None]:
    """By team what its cards would cost, in 10⁻⁶ of the currency; None where some has no price.

    At the prices of the days that begin at `since`; without it (a file) at today's. Of `changes`
    the last that fits counts. Cards alone: their share of cores and memory, agreements and taxes
    are left away.
    """
    rows = list(spent)
    begin = None if since is None else micros(since)
    rates = rates_of(partitions={row[1] for row in rows})
    prices = Costs(currency, begin, micros(database_now()), rates, changes)
    found: dict[str, int | None] = {}
    for row in rows:
        cost, so_far = prices.of(row), found.get(row[0], 0)
        found[row[0]] = None if cost is None or so_far is None else so_far + cost
    return found


def added_an_hour(
    cards: Mapping[tuple[int, str], int], *, currency: str
) -> dict[tuple[int, str], int | None]:
    """What so many cards of a partition and model cost in an hour today, sold as whole ones."""
    found = {}
    for (partition, label), count in cards.items():
        row = ("", partition, label, "whole", "standard", 3600.0 * count)
        found[partition, label] = costs_of([row], currency=currency).get("")
    return found
