"""A card's last weeks as the hours of a week: how busy each was, and how often it was alerted."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection

from pool.models.alerts import Alert
from pool.models.cards import Card
from pool.models.telemetry.rollups import PLACE

DAYS = 28

_AT = PLACE["util"] + 1
_HOURS = f"""
SELECT extract(isodow FROM at AT TIME ZONE %(zone)s)::int - 1,
       extract(hour FROM at AT TIME ZONE %(zone)s)::int,
       sum(mean[{_AT}] * known[{_AT}]) / nullif(sum(known[{_AT}]), 0),
       max(peak[{_AT}])
FROM pool_rollup_hour
WHERE card_id = %(card)s AND slice_id IS NULL AND at >= %(since)s AND at < %(until)s
GROUP BY 1, 2
"""  # noqa: S608 - only a constant of this house


@dataclass(frozen=True, slots=True)
class CardHour:
    """One hour of one weekday (Monday 0): utilisation in per cent, None where nothing is known.

    `alerts` is how often an alert about the card began to fire in it.
    """

    weekday: int
    hour: int
    util: float | None
    peak: float | None
    alerts: int


def card_week(*, card: Card, at: datetime, zone: str = "UTC") -> list[CardHour]:
    """All 168 hours, over the four weeks before; two queries."""
    since = at - timedelta(days=DAYS)
    words: dict[str, Any] = {"card": card.pk, "since": since, "until": at, "zone": zone}
    with connection.cursor() as cursor:
        cursor.execute(_HOURS, words)
        read = {(row[0], row[1]): (row[2], row[3]) for row in cursor.fetchall()}
    fired = Alert.objects.filter(
        subject=f"card:{card.uid}", fired_at__gte=since, fired_at__lt=at
    ).values_list("fired_at", flat=True)
    moments = [one.astimezone(ZoneInfo(zone)) for one in fired if one is not None]
    times = Counter((one.weekday(), one.hour) for one in moments)
    return [
        CardHour(day, hour, *read.get((day, hour), (None, None)), times[day, hour])
        for day in range(7)
        for hour in range(24)
    ]
