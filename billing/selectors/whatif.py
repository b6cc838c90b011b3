"""What the card-hours of a replay would cost by the price book of today."""

from collections.abc import Iterable
from typing import Any

from billing.rating.charge import rate_at
from billing.rating.intervals import micros
from billing.selectors.holds import database_now
from billing.selectors.prices import priced_items, rates_of

Spent = Iterable[tuple[str, int, str, str, str, float]]
"""Team, partition, card model, mode, price class, seconds of whole cards."""

CARD_MICRO = 1_000_000


def costs_of(spent: Spent, *, currency: str) -> dict[str, int | None]:
    """By team what its cards would cost, in 10⁻⁶ of the currency; None where some has no price.

    Cards alone: their share of cores and memory, agreements and taxes are left away.
    """
    rows = list(spent)
    rates = rates_of(partitions={row[1] for row in rows})
    at, known = micros(database_now()), dict[tuple[Any, ...], int | None]()
    found: dict[str, int | None] = {}
    for team, partition, label, mode, price_class, seconds in rows:
        key = (partition, label, mode, price_class)
        if key not in known:
            items = priced_items(
                rates,
                partition=partition,
                currency=currency,
                card_model=label,
                mode=mode,
                price_class=price_class,
                equivalents_micro=CARD_MICRO,
                cpu_milli=0,
                ram_mib=0,
            )
            known[key] = rate_at(items, at)
        rate, so_far = known[key], found.get(team, 0)
        whole = rate is not None and so_far is not None
        found[team] = (so_far or 0) + round((rate or 0) * seconds / 3600) if whole else None
    return found
