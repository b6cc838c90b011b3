"""What was asked of each model week by week: held and waited for, in card equivalents."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Count

from pool.models.cards import Card

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Demand:
    """One model: cards that are there, and the 95th percentile of each whole week's hours.

    Weeks are oldest first; each figure is card equivalents that ran or waited in an hour.
    """

    label: str
    cards: int
    weeks: Sequence[float]


def demand_by_model(*, until: datetime, weeks: int = 13) -> list[Demand]:
    """The models that are there or were wanted, most wanted first; two queries.

    An hour's demand is what was held in it plus what waited and later ran on that model; what
    still waits has no model yet and is left out. Weeks before the first hold are left out too.
    """
    there = dict(
        Card.objects.exclude(state="retired")
        .order_by()
        .values_list("label")
        .annotate(n=Count("pk"))
    )
    hours = _hours(until - weeks * WEEK, until)
    found = []
    for label in there.keys() | hours.keys():
        told = _weeks(hours.get(label, {}), until, weeks)
        found.append(Demand(label, there.get(label, 0), told))
    return sorted(found, key=_most_wanted)


def _most_wanted(one: Demand) -> tuple[float, str]:
    return (-(one.weeks[-1] if one.weeks else 0.0), one.label)


def _hours(since: datetime, until: datetime) -> dict[str, dict[datetime, float]]:
    """Card equivalents by model and hour.

    A wait counts from joining the queue to the start, with what the work later held.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH spans AS ("
            " SELECT c.label, h.equivalents_micro AS micro,"
            "  greatest(least(w.queued_at, lower(h.held)), %(since)s) AS a,"
            "  least(coalesce(upper(h.held), %(until)s), %(until)s) AS b"
            " FROM pool_hold h JOIN pool_card c ON c.id = h.card_id"
            " JOIN pool_placement p ON p.id = h.placement_id"
            " JOIN pool_attempt t ON t.id = p.attempt_id"
            " JOIN pool_workload w ON w.id = t.workload_id"
            " WHERE h.held && tstzrange(%(since)s, %(until)s))"
            " SELECT label, hour, sum(micro * extract(epoch FROM"
            "  least(b, hour + interval '1 hour') - greatest(a, hour))) / 3600e6"
            " FROM spans, generate_series("
            "  date_bin('1 hour', a, 'epoch'), b - interval '1 microsecond', '1 hour') AS hour"
            " WHERE a < b GROUP BY 1, 2",
            {"since": since, "until": until},
        )
        found: dict[str, dict[datetime, float]] = defaultdict(dict)
        for label, hour, cards in cursor.fetchall():
            found[label][hour] = float(cards)
        return found


def _weeks(hours: Mapping[datetime, float], until: datetime, weeks: int) -> list[float]:
    """The 95th percentile of each week's 168 hours; hours without demand count as 0."""
    if not hours:
        return []
    told: list[float] = []
    for number in range(weeks, 0, -1):
        begin = until - number * WEEK
        mine = sorted(value for hour, value in hours.items() if begin <= hour < begin + WEEK)
        if not mine and not told:
            continue
        padded = [0.0] * (168 - len(mine)) + mine
        told.append(padded[min(len(padded) - 1, int(0.95 * len(padded)))])
    return told
