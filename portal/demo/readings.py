"""What was measured in the month: by the hour, of the last day by the minute, then as it comes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection

from pool.models import Card
from pool.models.samples import WIDE
from pool.models.telemetry.rollups import METRICS, PLACE, ROLLED
from portal.demo.books import Ran
from portal.demo.course import Course
from portal.demo.plan import DemoPlan

HOUR_S, MINUTE_S, RAW_S = 3600, 60, 10
MINUTE_HOURS, RAW_HOURS = 24, 3
"""So many hours before the end are told by the minute too, and as the machines send it."""

_ROLLUP = "(at, card_id, slice_id, attempt_id, seconds, mean, p95, peak, known) FROM STDIN"
COPIES = {
    HOUR_S: f"COPY pool_rollup_hour {_ROLLUP}",
    MINUTE_S: f"COPY pool_rollup_minute {_ROLLUP}",
    RAW_S: "COPY pool_sample (at, card_id, slice_id, attempt_id, seconds, "
    f"{', '.join(WIDE)}, fidelity) FROM STDIN",
}
_MONTHS = """
SELECT pool_rollup_hour_for(day::date), pool_event_month(day::date)
FROM generate_series(date_trunc('month', %s::timestamptz), %s, interval '1 month') AS day
"""
_DAYS = """
SELECT pool_rollup_minute_for(day::date), pool_sample_day(day::date)
FROM generate_series(%s::timestamptz - interval '1 day', %s, interval '1 day') AS day
"""
IDLE_POWER = 0.12
HIDDEN = frozenset({"util", "occupancy"})
"""What a card does not tell of slices that it cuts in hardware."""

_PER_CENT = frozenset({"util", "sm", "occupancy", "bandwidth"})
_RAW = {column: name for name, mean, peak in ROLLED for column in (mean, peak)}

Values = dict[str, float]


@dataclass(slots=True)
class Sum:
    """What lay on one card in one step: mean and most use of compute, MiB of memory."""

    busy: float = 0.0
    most: float = 0.0
    memory: float = 0.0
    cut: bool = False


def months_made(plan: DemoPlan) -> None:
    """The tables of the time that the history lies in; the default ones must not take it."""
    with connection.cursor() as cursor:
        cursor.execute(_MONTHS, [plan.since, plan.until])
        cursor.execute(_DAYS, [plan.until - timedelta(hours=MINUTE_HOURS), plan.until])


def readings_written(*, plan: DemoPlan, ran: Sequence[Ran]) -> int:
    """One row for each slice and step it was held, and one for each card and step; how many."""
    cards = {card.pk: card for card in Card.objects.all()}
    count = 0
    for step, hours in ((HOUR_S, None), (MINUTE_S, MINUTE_HOURS), (RAW_S, RAW_HOURS)):
        since = plan.since if hours is None else max(plan.since, plan.until - _hours(hours))
        book = Book(step, since, plan.until, cards, defaultdict(dict))
        with connection.cursor() as cursor, cursor.copy(COPIES[step]) as copy:
            for line in book.lines(ran):
                copy.write(line)
                count += 1
    return count


def _hours(count: int) -> timedelta:
    return timedelta(hours=count)


@dataclass(frozen=True, slots=True)
class Book:
    """The readings of one resolution, from a full step to a full step."""

    step: int
    since: datetime
    until: datetime
    cards: Mapping[int, Card]
    sums: dict[int, dict[int, Sum]]

    def lines(self, ran: Iterable[Ran]) -> Iterator[str]:
        """First what was held, then each card with all that lay on it."""
        for one in ran:
            if one.end > self.since:
                yield from self._held(one)
        yield from self._whole()

    def _held(self, one: Ran) -> Iterator[str]:
        course = course_of(one)
        for at, since, until in self._steps(one.start.timestamp(), one.end.timestamp()):
            busy, most = course.use(since, until)
            full, part = course.held(since, until) / 100, (until - since) / self.step
            for row in one.slices:
                card, share = self.cards[row.card_id], row.compute_milli / 1000
                mib, cut = row.memory_mib * full, row.mode == "mig"
                mean, peak = _values(card, busy, mib, share), _values(card, most, mib, share)
                yield self._row(at, (card.pk, row.pk, one.attempt), until - since, mean, peak, cut)
                told = self.sums[card.pk].setdefault(at, Sum())
                told.busy += busy * share * part
                told.most += most * share
                told.memory += mib * part
                told.cut = told.cut or cut

    def _whole(self) -> Iterator[str]:
        nothing = Sum()
        for at in range(int(self.since.timestamp()), int(self.until.timestamp()), self.step):
            for card in self.cards.values():
                told = self.sums.get(card.pk, {}).get(at, nothing)
                mean = _values(card, min(99.0, told.busy), told.memory, 1.0)
                peak = _values(card, min(99.0, max(told.busy, told.most)), told.memory, 1.0)
                yield self._row(at, (card.pk, None, None), self.step, mean, peak, told.cut)

    def _steps(self, begin: float, end: float) -> Iterator[tuple[int, float, float]]:
        """Each full step that a span touches: when it begins, and what of it is in the span."""
        first, last = max(begin, self.since.timestamp()), min(end, self.until.timestamp())
        for at in range(int(first // self.step) * self.step, int(-(-last // 1)), self.step):
            since, until = max(first, at), min(last, at + self.step)
            if until > since:
                yield at, since, until

    def _row(
        self,
        at: int,
        who: tuple[int, int | None, int | None],
        seconds: float,
        mean: Values,
        peak: Values,
        cut: bool,
    ) -> str:
        """One line of COPY; what is not told is unknown."""
        moment = datetime.fromtimestamp(at, UTC).isoformat()
        words = "\t".join("\\N" if one is None else str(one) for one in who)
        head = f"{moment}\t{words}\t{seconds:.3f}"
        hidden = HIDDEN if cut else frozenset[str]()
        if self.step == RAW_S:
            return f"{head}\t{_wide(mean, peak, hidden)}\tmeasured\n"
        known = ["0"] * len(METRICS)
        for name in mean.keys() - hidden:
            known[PLACE[name]] = f"{seconds:.3f}"
        most = _array(peak, hidden)
        p95 = most if self.step == HOUR_S else "\\N"
        return f"{head}\t{_array(mean, hidden)}\t{p95}\t{most}\t{{{','.join(known)}}}\n"


def course_of(one: Ran) -> Course:
    """How busy this run is: as its kind of work, and as well as its owner writes it."""
    line, wish = one.told.wish.line, one.told.wish
    every = one.told.version.checkpoint_seconds
    return Course(
        begin_s=one.start.timestamp(),
        quiet_s=(one.end - timedelta(seconds=wish.idle_s)).timestamp(),
        busy=min(99.0, line.busy * wish.pitch),
        full=line.full,
        save_s=float(every) if every else None,
    )


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


def _wide(mean: Values, peak: Values, hidden: frozenset[str]) -> str:
    """The columns of a raw row."""
    found = []
    for column in WIDE:
        name = _RAW.get(column, "")
        told = peak if column.endswith("_max") else mean
        known = name in told and name not in hidden
        found.append(f"{told[name]:.4g}" if known else "\\N")
    return "\t".join(found)


def _array(told: Values, hidden: frozenset[str]) -> str:
    found = ["NULL"] * len(METRICS)
    for name, value in told.items():
        if name not in hidden:
            more = min(value, 100.0) if name in _PER_CENT else value
            found[PLACE[name]] = f"{more:.5g}"
    return f"{{{','.join(found)}}}"
