"""The section of prices: what counts now, set anew where a file says otherwise."""

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from django.utils.translation import gettext as _

from billing.models.prices import Price
from billing.selectors.holds import database_now
from billing.services.prices import price_set
from pool.errors import Invalid
from pool.events import Actor
from pool.services.imports.places import partition_named
from pool.services.imports.sections import Section, Words

KEYS = ("partition", "currency", "unit", "card_model", "mode", "price_class")
MICRO = 1_000_000


def _prices() -> Iterable[Words]:
    rows = Price.objects.filter(valid__contains=database_now()).select_related("partition")
    for row in rows:
        yield {
            "partition": row.partition.slug,
            **{name: getattr(row, name) for name in KEYS[1:]},
            "rate": _shown(row.rate_micro),
        }


def _shown(micro: int) -> str:
    text = f"{Decimal(micro) / MICRO:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _price(words: Words, actor: Actor) -> None:
    try:
        rate = Decimal(str(words.get("rate", ""))) * MICRO
        micro = int(rate)
    except (InvalidOperation, ValueError, OverflowError) as wrong:
        raise Invalid(rate=_("An amount per hour is needed.")) from wrong
    if rate != micro:
        raise Invalid(rate=_("At most six digits after the point."))
    given = {name: words[name] for name in KEYS[1:] if words.get(name)}
    partition = partition_named(words.get("partition"))
    price_set(partition=partition, rate_micro=micro, actor=actor, **given)


PRICES = Section(
    name="prices",
    keys=KEYS,
    words=(*KEYS, "rate"),
    rows=_prices,
    load=_price,
    plain={},
)
