"""What of the cards' time went where, day by day: stranded, idle, down, held; from the ledger."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

from django.db import connection

from billing.rating.accounts import CARD_PARTS
from billing.selectors.reconciling import posted_until

_DAYS = """
SELECT (e.hour AT TIME ZONE 'UTC')::date, p.account, sum(p.card_us)
FROM billing_entry e JOIN billing_posting p ON p.entry_id = e.id
WHERE e.hour >= %s AND e.hour < %s AND e.kind = 'metered' AND e.scope LIKE 'card:%%'
  AND p.account = ANY(%s)
  AND e.currency = (SELECT currency FROM billing_entry
                    WHERE hour >= %s AND hour < %s AND kind = 'metered' AND scope LIKE 'card:%%'
                    GROUP BY currency ORDER BY count(*) DESC, currency LIMIT 1)
GROUP BY 1, 2 ORDER BY 1
"""
"""A card's hour stands in the book of every currency it has a price in: the fullest book tells."""


@dataclass(frozen=True, slots=True)
class CardDay:
    """One UTC day of all cards, in card-hours by what became of them."""

    day: date
    used: float
    held_idle: float
    held_unknown: float
    stranded: float
    platform_idle: float
    down: float


def card_days(*, since: datetime, until: datetime) -> list[CardDay]:
    """The days of a span that are posted whole; two queries, through the hours' index."""
    found: dict[date, dict[str, float]] = {}
    posted = posted_until().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    until = min(until, posted)
    with connection.cursor() as cursor:
        names = [str(one) for one in CARD_PARTS]
        cursor.execute(_DAYS, [since, until, names, since, until])
        for day, account, card_us in cursor.fetchall():
            found.setdefault(day, {})[account] = float(card_us) / 3.6e9
    return [
        CardDay(
            day=day,
            used=parts.get("used", 0.0),
            held_idle=parts.get("held_idle", 0.0),
            held_unknown=parts.get("held_unknown", 0.0),
            stranded=parts.get("stranded", 0.0),
            platform_idle=parts.get("platform_idle", 0.0),
            down=parts.get("down", 0.0),
        )
        for day, parts in found.items()
    ]
