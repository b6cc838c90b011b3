"""What can be read of prices."""

from collections.abc import Collection, Iterable

from django.db.models import QuerySet

from billing.models.prices import Price
from billing.rating.charge import Item, card_parts, core_parts, gib_parts, seat_parts
from billing.rating.intervals import micros
from billing.rating.tariffs import FOREVER, Rate, Unit, tariffs
from nodeagent.protocol.vocabulary import Mode
from pool.models.users import User
from pool.selectors.memberships import standing
from pool.selectors.partitions import partition_list

RateKey = tuple[int, str, str]
"""Partition, currency, unit."""


def price_list(*, user: User) -> QuerySet[Price]:
    """Prices of the partitions that the person may use."""
    usable = partition_list(standing=standing(user=user))
    return Price.objects.filter(partition__in=usable).select_related("partition")


def rates_of(*, partitions: Collection[int]) -> dict[RateKey, list[Rate]]:
    """All dated prices of some partitions in one query, by partition, currency and unit."""
    found: dict[RateKey, list[Rate]] = {}
    for price in Price.objects.filter(partition__in=partitions):
        key = (price.partition_id, price.currency, price.unit)
        found.setdefault(key, []).append(_rate(price))
    return found


def priced_items(
    rates: dict[RateKey, list[Rate]],
    *,
    partition: int | None,
    currency: str,
    card_model: str,
    mode: str,
    price_class: str,
    equivalents_micro: int,
    cpu_milli: int,
    ram_mib: int,
) -> tuple[Item, ...]:
    """A share of a card, and cores and GiB, each with its line of rates.

    A vGPU takes one licence seat. Cards are expected to have a price; a site that sets none for
    cores, RAM or seats gives them free.
    """
    quantities = (
        (Unit.CARD, card_parts(equivalents_micro)),
        (Unit.CORE, core_parts(cpu_milli)),
        (Unit.GIB, gib_parts(ram_mib)),
        (Unit.SEAT, seat_parts(mode == Mode.VGPU)),
    )
    return tuple(
        Item(
            unit=unit.value,
            quantity=quantity,
            tariffs=tariffs(
                _of(rates, partition, currency, unit),
                card_model=card_model if unit == Unit.CARD else "",
                mode=mode if unit == Unit.CARD else "",
                price_class=price_class,
            ),
            expected=unit == Unit.CARD,
        )
        for unit, quantity in quantities
        if quantity
    )


def _of(
    rates: dict[RateKey, list[Rate]], partition: int | None, currency: str, unit: Unit
) -> Iterable[Rate]:
    return () if partition is None else rates.get((partition, currency, unit.value), ())


def _rate(price: Price) -> Rate:
    end = price.valid.upper
    return Rate(
        ref=price.uid,
        micro=price.rate_micro,
        start_us=micros(price.valid.lower),
        end_us=FOREVER if end is None else micros(end),
        card_model=price.card_model,
        mode=price.mode,
        price_class=price.price_class,
    )
