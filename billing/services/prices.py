"""Setting prices: dated, never in time that was already charged."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.utils.translation import gettext as _
from psycopg.types.range import Range

from billing.errors import PriceInThePast
from billing.models.months import Month
from billing.models.prices import Price
from billing.models.usage import Usage
from billing.rating.days import month_span
from billing.rating.intervals import moment
from billing.rating.tariffs import Unit
from billing.selectors.holds import database_now
from billing.services.metering import usage_rerate
from billing.services.posting import ledger_repost
from nodeagent.protocol.vocabulary import Mode
from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.locks import METER
from pool.models.partitions import Partition

MOST_MICRO = 10**12
"""A million a card and hour: more is a slip of the finger."""

EARLIEST, LATEST = 2000, 2999
"""Years in which a price may begin."""

EXAMPLE_CARDS = {
    "": 1_200_000,
    "A100-40GB": 1_450_000,
    "A100-80GB": 1_900_000,
    "A30": 550_000,
    "Ascend-910B": 1_250_000,
    "H100-80GB": 3_200_000,
    "H200": 3_900_000,
    "L40S": 1_100_000,
    "MI300X": 2_900_000,
    "RTX-3090": 300_000,
    "RTX-4090": 450_000,
}
"""Rates of the example price book, 10⁻⁶ of the currency per card and hour; "" is any other card."""

EXAMPLE_CORE, EXAMPLE_GIB = 12_000, 1_500
"""The same per core and hour, and per GiB of RAM and hour."""


@transaction.atomic
def price_set(
    *,
    partition: Partition,
    rate_micro: int,
    actor: Actor,
    card_model: str = "",
    mode: str = "",
    price_class: str = "",
    currency: str = "EUR",
    unit: str = Unit.CARD,
    starts_at: datetime | None = None,
    rerate: bool = False,
) -> Price:
    """Let a price count from `starts_at` (now) until the next one of the same key begins.

    `rate_micro` is in 10⁻⁶ of the currency per unit and hour. The price that counted before ends
    there. The meter waits meanwhile, so that no time is charged at a price that just ended. With
    `rerate` it may begin in the past: what was metered since is rated anew, back to the last month
    that somebody closed, and the ledger posts the difference.

    Raises:
        Invalid: a value that no price can have.
        PriceInThePast: usage after `starts_at` has been metered, or lies in a closed month.
    """
    _check(rate_micro, currency, unit, card_model, mode)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [METER])
    now = database_now()
    start = starts_at or now
    if not EARLIEST <= start.year <= LATEST:
        raise Invalid(starts_at=_("A day from 2000 to 2999."))
    if start < now and not rerate:
        _refuse_metered(partition, start)
    if start < now and rerate:
        _refuse_closed(start)
    key = {
        "partition": partition,
        "currency": currency,
        "unit": str(unit),
        "card_model": card_model,
        "mode": mode,
        "price_class": price_class,
    }
    price = _put(key, rate_micro, start)
    record(
        EventKind.PRICE_CHANGED,
        price,
        actor=actor,
        partition=partition.uid,
        rate_micro=rate_micro,
        starts_at=start.isoformat(),
    )
    if rerate and start < now:
        usage_rerate(partition=partition, since=start, now=now)
        ledger_repost(since=start)
    return price


@transaction.atomic
def price_book_seed(*, partitions: Iterable[Partition], actor: Actor, currency: str = "EUR") -> int:
    """The example price book: for each partition that has no price yet; returns how many were set.

    A second call changes nothing.
    """
    made = 0
    for partition in partitions:
        if Price.objects.filter(partition=partition, currency=currency).exists():
            continue
        for label, rate in EXAMPLE_CARDS.items():
            price_set(
                partition=partition,
                card_model=label,
                rate_micro=rate,
                currency=currency,
                actor=actor,
            )
        for unit, rate in ((Unit.CORE, EXAMPLE_CORE), (Unit.GIB, EXAMPLE_GIB)):
            price_set(
                partition=partition, unit=unit, rate_micro=rate, currency=currency, actor=actor
            )
        made += len(EXAMPLE_CARDS) + 2
    return made


def _check(rate_micro: int, currency: str, unit: str, card_model: str, mode: str) -> None:
    wrong: dict[str, str] = {}
    if not 0 <= rate_micro <= MOST_MICRO:
        wrong["rate_micro"] = f"0 … {MOST_MICRO}"
    if not (len(currency) == 3 and currency.isascii() and currency.isupper()):
        wrong["currency"] = "ISO 4217"
    if unit not in set(Unit):
        wrong["unit"] = ", ".join(Unit)
    if mode and mode not in {*Mode, "host"}:
        wrong["mode"] = ", ".join(Mode)
    if unit != Unit.CARD and (card_model or mode):
        wrong["card_model"] = f"unit {Unit.CARD}"
    if wrong:
        raise Invalid(**wrong)


def _refuse_metered(partition: Partition, start: datetime) -> None:
    metered = Usage.objects.filter(partition=partition, ends_at__gt=start)
    last = metered.order_by("-ends_at").values_list("ends_at", flat=True).first()
    if last is not None:
        raise PriceInThePast(starts_at=start.isoformat(), metered_until=last.isoformat())


def _refuse_closed(start: datetime) -> None:
    """A closed month keeps its prices, whosever it is."""
    for first, zone in Month.objects.filter(state="closed").values_list("first", "zone"):
        end = moment(month_span(first, zone).end_us)
        if start < end:
            raise PriceInThePast(starts_at=start.isoformat(), metered_until=end.isoformat())


def _put(key: dict[str, Any], rate_micro: int, start: datetime) -> Price:
    """One row per change; the row that begins at the very same moment is replaced."""
    rows = Price.objects.select_for_update().filter(**key)
    current = rows.filter(valid__contains=start).first()
    if current is not None and current.rate_micro == rate_micro:
        return current
    if current is not None and current.valid.lower == start:
        current.rate_micro = rate_micro
        current.save(update_fields=["rate_micro"])
        return current
    later = rows.filter(valid__startswith__gt=start).order_by("valid__startswith").first()
    if current is not None:
        current.valid = Range(current.valid.lower, start)
        current.save(update_fields=["valid"])
    end = later.valid.lower if later is not None else None
    return Price.objects.create(**key, rate_micro=rate_micro, valid=Range(start, end))
