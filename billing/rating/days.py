"""Pure: days and months of a time zone as spans of real time; days of 23, 24 and 25 hours."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from billing.rating.intervals import Span, micros, moment

_DAY = timedelta(days=1)


def midnight(day: date, zone: str) -> datetime:
    """When the day begins there, in UTC; the first moment of it where clocks skip midnight."""
    local = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
    begins = local.astimezone(UTC)
    while begins.astimezone(ZoneInfo(zone)).date() < day:
        begins += timedelta(minutes=15)
    return begins


def day_of(at: datetime, zone: str) -> date:
    """Which day it is there."""
    return at.astimezone(ZoneInfo(zone)).date()


def month_of(day: date) -> date:
    """The first day of its month."""
    return day.replace(day=1)


def next_month(first: date) -> date:
    """The first day of the month after."""
    return (first.replace(day=28) + 4 * _DAY).replace(day=1)


def month_span(first: date, zone: str) -> Span:
    """A month as it passes there."""
    return Span(micros(midnight(first, zone)), micros(midnight(next_month(first), zone)))


def by_day(span: Span, zone: str) -> Iterator[tuple[date, Span]]:
    """The parts of a span that lie in each local day; they follow without gap or overlap."""
    start = span.start_us
    while start < span.end_us:
        day = day_of(moment(start), zone)
        end = min(span.end_us, micros(midnight(day + _DAY, zone)))
        yield day, Span(start, end)
        start = end
