"""What something will cost, before it is asked for."""

from dataclasses import dataclass, field

from billing.rating.charge import charge, rate_at
from billing.rating.intervals import SECOND_US, Span, micros
from billing.rating.money import MICRO
from billing.selectors.holds import database_now
from billing.selectors.prices import priced_items, rates_of
from pool.models.partitions import Partition
from pool.models.tenants import Project


@dataclass(frozen=True, slots=True)
class Quote:
    """Amounts in 10⁻⁶ of the currency; None when no price is set.

    `weights` are plain named numbers that the pool can compare with a limit without a word for
    money: "cost" counts whole units of the currency, a begun one as one.
    """

    currency: str
    per_hour_micro: int | None
    total_micro: int | None
    seconds: int
    weights: dict[str, int] = field(default_factory=dict)


def quote(
    *,
    project: Project,
    partition: Partition,
    card_model: str,
    mode: str,
    equivalents_micro: int,
    seconds: int,
    cpu_milli: int = 0,
    ram_mib: int = 0,
    price_class: str = "standard",
    parts: int = 1,
) -> Quote:
    """The price of `parts` equal shares, and of the host units for all of them, from now on.

    `equivalents_micro` is one part's, in millionths of a card. Prices that are known to change
    within the time are counted from their day on.
    """
    currency = project.organization.currency
    items = priced_items(
        rates_of(partitions={partition.pk}),
        partition=partition.pk,
        currency=currency,
        card_model=card_model,
        mode=mode,
        price_class=price_class,
        equivalents_micro=equivalents_micro * parts,
        cpu_milli=cpu_milli,
        ram_mib=ram_mib,
    )
    start = micros(database_now())
    span = Span(start, start + seconds * SECOND_US)
    total = charge(items, since_us=start, span=span).micro
    return Quote(
        currency=currency,
        per_hour_micro=rate_at(items, start),
        total_micro=total,
        seconds=seconds,
        weights={} if total is None else {"cost": -(-total // MICRO)},
    )
