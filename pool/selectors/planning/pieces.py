"""How much of the cards lies free in pieces, day by day: room that no whole card can be made of."""

from dataclasses import dataclass
from datetime import date, datetime

from django.db import connection

from pool.models.cards import Card

_DAYS = """
WITH moments AS (
    SELECT hour FROM generate_series(%(since)s::timestamptz,
        %(until)s::timestamptz - interval '1 hour', interval '1 hour') AS hour
), held AS (
    SELECT m.hour, h.card_id, least(1000000, sum(h.equivalents_micro))::float8 AS micro
    FROM pool_hold h CROSS JOIN LATERAL generate_series(
        greatest(%(since)s, date_trunc('hour',
            lower(h.held) + interval '1 hour' - interval '1 microsecond', 'UTC')),
        least(%(until)s, coalesce(upper(h.held), %(until)s)) - interval '1 microsecond',
        interval '1 hour') AS m(hour)
    WHERE h.card_id IS NOT NULL AND h.held && tstzrange(%(since)s, %(until)s)
    GROUP BY 1, 2
), hours AS (
    SELECT m.hour, count(h.card_id) AS touched, coalesce(sum(h.micro), 0) / 1e6 AS used,
        coalesce(sum(1000000 - h.micro), 0) / 1e6 AS pieces
    FROM moments m LEFT JOIN held h USING (hour) GROUP BY 1
)
SELECT (hour AT TIME ZONE 'UTC')::date, avg(used), avg(pieces), avg(touched)
FROM hours GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class PiecesDay:
    """The mean of one UTC day, in cards: held, free on cards that somebody holds a part of, whole.

    `free_milli` is what of all that was free lay in pieces, in thousandths; None where nothing was.
    """

    day: date
    held: float
    in_pieces: float
    whole: float

    @property
    def free_milli(self) -> int | None:
        """How broken up the free room was."""
        free = self.in_pieces + self.whole
        return round(1000 * self.in_pieces / free) if free > 1e-9 else None


def pieces_by_day(*, since: datetime, until: datetime) -> list[PiecesDay]:
    """Each day's mean of 24 looks, one at every full hour from `since`, one itself; two queries.

    Cards are those of now: what was retired meanwhile is counted while it was held.
    """
    cards = Card.objects.exclude(state="retired").count()
    with connection.cursor() as cursor:
        cursor.execute(_DAYS, {"since": since, "until": until})
        rows = cursor.fetchall()
    return [
        PiecesDay(day, float(held), float(pieces), max(0.0, cards - float(touched)))
        for day, held, pieces, touched in rows
    ]
