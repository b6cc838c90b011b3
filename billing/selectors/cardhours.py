"""What happened to cards: since when each is here, when it was down, how busy its slices were."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection

from billing.rating.intervals import SECOND_US, Span, micros
from pool.lifecycle.cards import CardState
from pool.lifecycle.events import EventKind
from pool.models.cards import Card
from pool.models.telemetry.rollups import PLACE
from pool.services.hardware.errors import RESET_NEEDED

DOWN_REASONS = frozenset({RESET_NEEDED, "hardware"})
"""Reasons of a cordon under which the card costs nobody anything."""

_LIVES = """
SELECT subject, kind, at, data->>'to', data->>'reason' FROM (
    (SELECT DISTINCT ON (subject) subject, kind, at, data, id FROM pool_event
     WHERE kind IN ('card.moved', 'card.found') AND at < %(since)s
     ORDER BY subject, id DESC)
    UNION ALL
    (SELECT subject, kind, at, data, id FROM pool_event
     WHERE kind IN ('card.moved', 'card.found') AND at >= %(since)s AND at < %(until)s)
) AS told ORDER BY subject, id
"""
_LATER = """
SELECT DISTINCT subject FROM pool_event WHERE kind = 'card.found' AND at >= %(until)s
"""
_BUSY = f"""
SELECT card_id, slice_id, attempt_id,
    coalesce(mean[{PLACE["util"] + 1}], mean[{PLACE["sm"] + 1}]),
    CASE WHEN mean[{PLACE["util"] + 1}] IS NOT NULL
        THEN known[{PLACE["util"] + 1}] ELSE known[{PLACE["sm"] + 1}] END
FROM pool_rollup_hour WHERE at = %s AND attempt_id IS NOT NULL
"""  # noqa: S608 - places are numbers of the table itself


@dataclass(slots=True)
class Life:
    """What the log tells of one card between two moments."""

    here: Span
    down: list[Span] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Busy:
    """How long something was seen, and seen working, in one hour; microseconds."""

    known_us: int
    used_us: int


def lives(*, cards: dict[str, Card], since: datetime, until: datetime) -> dict[int, Life]:
    """By card: from when to when it belonged to the pool in that time, and when it was down.

    A card of which the log tells nothing was there all the time, unless it was found only later.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LIVES, {"since": since, "until": until})
        rows = cursor.fetchall()
        cursor.execute(_LATER, {"until": until})
        later = {subject.partition(":")[2] for (subject,) in cursor.fetchall()}
    told: dict[str, list[tuple[str, datetime, str | None, str | None]]] = defaultdict(list)
    for subject, kind, at, to, reason in rows:
        told[subject.partition(":")[2]].append((kind, at, to, reason))
    whole = Span(micros(since), micros(until))
    nowhere = Span(whole.end_us, whole.end_us)
    return {
        card.pk: Life(nowhere)
        if uid in later and uid not in told
        else _life(told.get(uid, []), whole)
        for uid, card in cards.items()
    }


def _life(told: list[tuple[str, datetime, str | None, str | None]], whole: Span) -> Life:
    life = Life(whole)
    start, end = whole.start_us, whole.end_us
    fallen: int | None = None
    for kind, at, to, reason in told:
        when = max(micros(at), whole.start_us)
        if kind == EventKind.CARD_FOUND and micros(at) > whole.start_us:
            start = when
        if fallen is not None:
            life.down.append(Span(fallen, when))
            fallen = None
        if _is_down(to, reason):
            fallen = when
        if to == CardState.RETIRED:
            end = when
        elif micros(at) > whole.start_us and end < whole.end_us:
            end = whole.end_us
    if fallen is not None:
        life.down.append(Span(fallen, whole.end_us))
    life.here = Span(start, max(start, end))
    return life


def _is_down(state: str | None, reason: str | None) -> bool:
    return state == CardState.LOST or (state == CardState.CORDONED and reason in DOWN_REASONS)


def busy(*, hour: datetime) -> dict[tuple[int, int | None, int], Busy]:
    """What was measured in an hour, by card, slice (None: the card as a whole) and attempt.

    Kernel time where it can be read, else the time of the multiprocessors. What was not read is
    not known, never 0.
    """
    with connection.cursor() as cursor:
        cursor.execute(_BUSY, [hour])
        rows = cursor.fetchall()
    found = {}
    for card, cut, attempt, mean, known in rows:
        if mean is None or not known:
            continue
        known_us = round(known * SECOND_US)
        found[card, cut, attempt] = Busy(known_us, round(known_us * min(max(mean, 0), 100) / 100))
    return found
