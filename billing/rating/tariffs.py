"""Which price counts when: of the prices that fit, the most exact one at each moment."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

FOREVER = 1 << 62
"""The end of a price that has none, in microseconds since 1970."""


class Unit(StrEnum):
    """What one hour of a price is an hour of."""

    CARD = "card"
    CORE = "core"
    GIB = "gib"
    SEAT = "seat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One dated price: `micro` (10⁻⁶ of the currency) per unit and hour; empty words mean any."""

    ref: str
    micro: int
    start_us: int
    end_us: int
    card_model: str = ""
    mode: str = ""
    price_class: str = ""


@dataclass(frozen=True, slots=True)
class Tariff:
    """The rate that counts from `start_us` up to `end_us`."""

    ref: str
    micro: int
    start_us: int
    end_us: int


def tariffs(
    rates: Iterable[Rate], *, card_model: str, mode: str, price_class: str
) -> tuple[Tariff, ...]:
    """The line of rates in time for one kind of share; never two at once, gaps where none fits.

    A price of the very model goes before one of any model, then the very mode, then the class.
    """
    fitting = [
        rate
        for rate in rates
        if rate.card_model in {"", card_model}
        and rate.mode in {"", mode}
        and rate.price_class in {"", price_class}
    ]
    edges = sorted({edge for rate in fitting for edge in (rate.start_us, rate.end_us)})
    line = []
    for start, end in pairwise(edges):
        valid = [rate for rate in fitting if rate.start_us <= start and end <= rate.end_us]
        if valid:
            best = max(valid, key=_exactness)
            line.append(Tariff(best.ref, best.micro, start, end))
    return tuple(line)


def _exactness(rate: Rate) -> tuple[bool, bool, bool, str]:
    return (bool(rate.card_model), bool(rate.mode), bool(rate.price_class), rate.ref)
