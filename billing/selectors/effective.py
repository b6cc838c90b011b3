"""What one card-hour really costs somebody: from the list price, step by step, to the charge."""

from dataclasses import dataclass
from datetime import datetime

from billing.models.usage import Usage
from billing.rating.accounts import Account
from billing.rating.charge import charge
from billing.rating.days import day_of
from billing.rating.intervals import HOUR_US, Span, micros
from billing.rating.tariffs import Rate, Unit
from billing.rating.terms import Row, adjustments
from billing.selectors.agreed import Agreed
from billing.selectors.prices import RateKey, priced_items, rates_of
from pool.models.partitions import Partition
from pool.models.tenants import Project

CARD = 1_000_000


@dataclass(frozen=True, slots=True)
class Effective:
    """Amounts for one whole card and one hour, in 10⁻⁶ of the currency; None without a price.

    `steps` lead from the list price to the charge, each with its sign: a vGPU's licence seat is one
    of them, which no discount touches, but tax does.
    """

    currency: str
    list_micro: int | None
    charge_micro: int | None
    steps: tuple[tuple[Account, int], ...]


def effective_price(
    *,
    project: Project,
    partition: Partition,
    card_model: str,
    at: datetime,
    mode: str = "whole",
    price_class: str = "standard",
    preemptible: bool = False,
    used_milli: int = 1000,
) -> Effective:
    """The price that this team would be charged there for the hour from that moment on.

    `used_milli` is how much of the hour work is seen running; it counts where what was used does.
    """
    home = project.organization
    rates = rates_of(partitions={partition.pk})
    listed = {
        key: [one for one in found if not one.mode and not one.price_class]
        for key, found in rates.items()
    }
    asked_for = (partition.pk, home.currency, card_model, at)
    plain = _hour_micro(listed, *asked_for, mode="", price_class="")
    amount = _hour_micro(rates, *asked_for, mode=mode, price_class=price_class)
    seat = _hour_micro(rates, *asked_for, mode=mode, price_class=price_class, unit=Unit.SEAT) or 0
    if plain is None or amount is None:
        return Effective(home.currency, plain, None, ())
    agreed = Agreed.now()
    contract = agreed.contract(home.pk, day_of(at, home.zone))
    asked = Usage(
        organization_id=home.pk,
        project_id=project.pk,
        partition_id=partition.pk,
        starts_at=at,
        preemptible=preemptible,
    )
    row = Row(
        list_micro=plain,
        amount_micro=amount,
        reserved_us=HOUR_US,
        used_us=HOUR_US * used_milli // 1000,
        known_us=HOUR_US,
        apart_micro=seat,
    )
    steps = adjustments(row, agreed.terms(contract), agreed.cuts(asked, home.zone))
    if seat:
        at_tax = next((n for n, (name, _) in enumerate(steps) if name is Account.TAX), len(steps))
        steps = (*steps[:at_tax], (Account.LICENCE, seat), *steps[at_tax:])
    return Effective(home.currency, plain, plain + sum(micro for _name, micro in steps), steps)


def _hour_micro(
    rates: dict[RateKey, list[Rate]],
    partition: int,
    currency: str,
    card_model: str,
    at: datetime,
    *,
    mode: str,
    price_class: str,
    unit: Unit = Unit.CARD,
) -> int | None:
    """What a whole card costs for an hour at these rates, or the licence seat beside it."""
    items = priced_items(
        rates,
        partition=partition,
        currency=currency,
        card_model=card_model,
        mode=mode,
        price_class=price_class,
        equivalents_micro=CARD,
        cpu_milli=0,
        ram_mib=0,
    )
    meant = [one for one in items if one.unit == unit]
    start = micros(at)
    return charge(meant, since_us=start, span=Span(start, start + HOUR_US)).micro
