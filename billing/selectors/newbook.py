"""What a month's use would cost at the prices that begin next: the same use, another book."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.contrib.postgres.fields.ranges import RangeStartsWith
from django.db.models import DecimalField, ExpressionWrapper, F, Min, Sum

from billing.models.prices import Price
from billing.models.usage import Usage
from billing.rating.charge import rate_at
from billing.rating.days import midnight, next_month
from billing.rating.intervals import HOUR_US, micros
from billing.rating.money import settle
from billing.rating.tariffs import Rate, Unit
from billing.selectors.charged import charged
from billing.selectors.holds import database_now
from billing.selectors.prices import RateKey, priced_items, rates_of
from pool.models.tenants import Organization

KIND = ("partition", "card_model", "mode", "price_class")
PARTS = {Unit.CARD: 1_000_000, Unit.CORE: 1000, Unit.GIB: 1024, Unit.SEAT: 1}
"""One card, core, GiB or seat in what rows count: millionths, thousandths, MiB, whole seats."""


@dataclass(frozen=True, slots=True)
class NewBook:
    """When the next price begins, and the month at the prices in force and at those.

    Amounts are before discounts, in 10⁻⁶ of the currency; `then_micro` is None where a price would
    be missing. Both are of the use that is charged and has a price now.
    """

    starts_at: datetime
    now_micro: int
    then_micro: int | None


def new_book(
    *, organization: Organization, first: date, projects: Collection[int] | None = None
) -> NewBook | None:
    """The month's use at the next prices of where it ran; None where no change is set.

    Mostly none is set: then the month's rows are not read at all.
    """
    later = Price.objects.filter(
        currency=organization.currency, valid__startswith__gt=database_now()
    )
    begins = dict(
        later.order_by()
        .values_list("partition")
        .annotate(begin=Min(RangeStartsWith("valid")))
        .values_list("partition", "begin")
    )
    if not begins:
        return None
    rows = Usage.objects.filter(
        organization=organization,
        hour__gte=midnight(first, organization.zone),
        hour__lt=midnight(next_month(first), organization.zone),
        currency=organization.currency,
        amount_micro__isnull=False,
    ).order_by()
    if projects is not None:
        rows = rows.filter(project__in=projects)
    kinds = list(
        charged(rows)
        .values(*KIND)
        .annotate(
            money=Sum("amount_micro"),
            card=_time("equivalents_micro"),
            core=_time("cpu_milli"),
            gib=_time("ram_mib"),
            seat=Sum("reserved_us"),
        )
    )
    used = {one["partition"] for one in kinds if one["partition"] is not None}
    at = min((begins[one] for one in used if one in begins), default=None)
    if at is None:
        return None
    rates = rates_of(partitions=used)
    costs = [_cost(one, rates, organization.currency, at) for one in kinds]
    then = None if None in costs else sum(one or 0 for one in costs)
    return NewBook(at, sum(int(one["money"] or 0) for one in kinds), then)


def _time(column: str) -> Sum:
    whole = ExpressionWrapper(
        F(column) * F("reserved_us"), output_field=DecimalField(max_digits=40, decimal_places=0)
    )
    return Sum(whole)


def _cost(
    one: dict[str, Any], rates: dict[RateKey, list[Rate]], currency: str, at: datetime
) -> int | None:
    """All use of one kind at the rates of one moment; None where its card has no price then."""
    items = priced_items(
        rates,
        partition=one["partition"],
        currency=currency,
        card_model=one["card_model"],
        mode=one["mode"],
        price_class=one["price_class"],
        equivalents_micro=PARTS[Unit.CARD],
        cpu_milli=PARTS[Unit.CORE],
        ram_mib=PARTS[Unit.GIB],
    )
    total = 0
    for item in items:
        unit = Unit(item.unit)
        time = int(one[unit.value] or 0)
        rate = rate_at([item], micros(at)) if time else 0
        if rate is None:
            return None
        total += settle(rate * time, PARTS[unit] * HOUR_US)
    return total
