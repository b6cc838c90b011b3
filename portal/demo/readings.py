"""What was measured in the month, hour by hour: plausible for each kind of work, by the seed."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from django.db import connection

from pool.models import Card
from pool.models.telemetry.rollups import METRICS, PLACE
from portal.demo.books import Ran
from portal.demo.plan import DemoPlan

HOUR_S = 3600.0
_COPY = (
    "COPY pool_rollup_hour (at, card_id, slice_id, attempt_id, seconds, mean, p95, peak, known) "
    "FROM STDIN"
)
_MONTHS = """
SELECT pool_rollup_hour_for(day::date), pool_event_month(day::date)
FROM generate_series(date_trunc('month', %s::timestamptz), %s, interval '1 month') AS day
"""
IDLE_POWER = 0.12
HIDDEN = frozenset({"util", "occupancy"})
"""What a card does not tell of slices that it cuts in hardware."""

Values = dict[str, float]


@dataclass(slots=True)
class Sum:
    """What lay on one card in one hour: seconds of whole cards held, and what they did."""

    busy: float = 0.0
    memory: float = 0.0
    cut: bool = False


def months_made(plan: DemoPlan) -> None:
    """The tables of the months that the history lies in; the default one must not take them."""
    with connection.cursor() as cursor:
        cursor.execute(_MONTHS, [plan.since, plan.until])


def readings_written(*, plan: DemoPlan, ran: Sequence[Ran]) -> int:
    """One row for each slice and hour it was held, and one for each card and hour; how many."""
    cards = {card.pk: card for card in Card.objects.all()}
    sums: dict[int, dict[int, Sum]] = defaultdict(dict)
    count = 0
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for line in _of_slices(plan, ran, cards, sums):
            copy.write(line)
            count += 1
        for line in _of_cards(plan, cards, sums):
            copy.write(line)
            count += 1
    return count


def _of_slices(
    plan: DemoPlan,
    ran: Iterable[Ran],
    cards: Mapping[int, Card],
    sums: dict[int, dict[int, Sum]],
) -> Iterator[str]:
    chance = Random(f"{plan.seed}:readings")  # noqa: S311 - a story, no secret
    for one in ran:
        line, wish = one.told.wish.line, one.told.wish
        quiet = one.end - timedelta(seconds=wish.idle_s)
        for hour, seconds in _hours(one.start, one.end):
            idle = wish.idle_s > 0 and hour >= quiet
            busy = 0.4 if idle else min(99.0, line.busy * wish.pitch * chance.gauss(1, 0.08))
            full = min(98.0, line.full * chance.gauss(1, 0.04))
            for row in one.slices:
                card = cards[row.card_id]
                share = row.compute_milli / 1000
                values = _values(card, max(0.1, busy), row.memory_mib * full / 100, share)
                cut = row.mode == "mig"
                yield _row(hour, card.pk, row.pk, one.attempt, seconds, _seen(values, cut))
                _add(sums[card.pk], hour, seconds, busy * share, row.memory_mib * full / 100, cut)


def _add(
    hours: dict[int, Sum], hour: datetime, seconds: float, busy: float, memory: float, cut: bool
) -> None:
    told = hours.setdefault(int(hour.timestamp()), Sum())
    told.busy += busy * seconds / HOUR_S
    told.memory += memory * seconds / HOUR_S
    told.cut = told.cut or cut


def _of_cards(
    plan: DemoPlan, cards: Mapping[int, Card], sums: Mapping[int, Mapping[int, Sum]]
) -> Iterator[str]:
    hours = int((plan.until - plan.since).total_seconds() // HOUR_S)
    nothing = Sum()
    for number in range(hours):
        hour = plan.since + timedelta(hours=number)
        key = int(hour.timestamp())
        for card in cards.values():
            told = sums.get(card.pk, {}).get(key, nothing)
            values = _values(card, min(99.0, told.busy), told.memory, 1.0)
            yield _row(hour, card.pk, None, None, HOUR_S, _seen(values, told.cut))


def _hours(start: datetime, end: datetime) -> Iterator[tuple[datetime, float]]:
    """Each UTC hour that a span touches, with its seconds in it."""
    at = start
    while at < end:
        hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        stop = min(end, hour + timedelta(hours=1))
        yield hour, (stop - at).total_seconds()
        at = stop


def _values(card: Card, busy: float, memory: float, share: float) -> Values:
    """All metrics that follow from how busy something is, in per cent of its own share."""
    tdp = card.tdp_w or 350
    return {
        "util": busy,
        "sm": busy * 0.97,
        "occupancy": busy * 0.62,
        "memory_mib": memory,
        "bandwidth": busy * 0.55,
        "pcie_mib_s": busy * 40 * share,
        "power_w": tdp * share * (IDLE_POWER + (0.95 - IDLE_POWER) * busy / 100),
        "temperature_c": 31 + 0.42 * busy,
    }


def _seen(values: Values, cut: bool) -> Values:
    return {name: one for name, one in values.items() if not (cut and name in HIDDEN)}


def _row(
    hour: datetime, card: int, piece: int | None, attempt: int | None, seconds: float, told: Values
) -> str:
    """One line of COPY; what is not told is unknown."""
    mean = _array(told, 1.0, 0.0)
    p95 = _array(told, 1.08, 2.0)
    peak = _array(told, 1.15, 4.0)
    known = ["0"] * len(METRICS)
    for name in told:
        known[PLACE[name]] = f"{seconds:.3f}"
    who = "\t".join("\\N" if one is None else str(one) for one in (piece, attempt))
    return (
        f"{hour.isoformat()}\t{card}\t{who}\t{seconds:.3f}\t{mean}\t{p95}\t{peak}"
        f"\t{{{','.join(known)}}}\n"
    )


_PER_CENT = frozenset({"util", "sm", "occupancy", "bandwidth"})


def _array(told: Values, times: float, plus: float) -> str:
    found = ["NULL"] * len(METRICS)
    for name, value in told.items():
        more = value * times + (plus if value > 1 and name in _PER_CENT else 0.0)
        found[PLACE[name]] = f"{min(more, 100.0) if name in _PER_CENT else more:.4g}"
    return f"{{{','.join(found)}}}"
