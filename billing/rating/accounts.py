"""The accounts of the ledger: where an amount belongs, and in which order a bill names them."""

from enum import StrEnum


class Account(StrEnum):
    """What a posting is for. The first six are the parts of a card's price; the rest is added."""

    USED = "used"
    HELD_IDLE = "held_idle"
    HELD_UNKNOWN = "held_unknown"
    STRANDED = "stranded"
    PLATFORM_IDLE = "platform_idle"
    DOWN = "down"
    ELSEWHERE = "elsewhere"
    HOST = "host"
    PRICE = "price"
    BASIS = "basis"
    AGREEMENT = "agreement"
    PREEMPTIBLE = "preemptible"
    OFF_PEAK = "off_peak"
    CREDIT = "credit"
    LICENCE = "licence"
    OVERHEAD = "overhead"
    MINIMUM = "minimum"
    CORRECTION = "correction"
    TAX = "tax"
    CAPACITY = "capacity"
    REVENUE = "revenue"


A = Account

CARD_PARTS = (
    *(A.USED, A.HELD_IDLE, A.HELD_UNKNOWN, A.STRANDED),
    *(A.PLATFORM_IDLE, A.DOWN, A.ELSEWHERE),
)
"""Of one card and hour these sum to the card's price. `elsewhere` is what an organization that pays
in another currency holds of it: it stands in that currency's book."""

OF_THE_PLATFORM = frozenset({A.CAPACITY, A.REVENUE, A.ELSEWHERE})
"""The other side of every entry; never on anybody's bill."""
