"""Time as whole microseconds since 1970: hours, and what of a span lies in each."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

SECOND_US = 1_000_000
HOUR_US = 3600 * SECOND_US

_START = datetime(1970, 1, 1, tzinfo=UTC)
_ONE = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Span:
    """From `start_us` up to, not including, `end_us`."""

    start_us: int
    end_us: int

    @property
    def length_us(self) -> int:
        """Microseconds; 0 for a span that ends before it starts."""
        return max(0, self.end_us - self.start_us)

    def cut(self, other: "Span") -> "Span":
        """What both have in common; of no length when they do not meet."""
        start = max(self.start_us, other.start_us)
        return Span(start, max(start, min(self.end_us, other.end_us)))


def micros(moment: datetime) -> int:
    """An aware moment as microseconds since 1970, exactly."""
    return (moment - _START) // _ONE


def moment(micros: int) -> datetime:
    """The same way back, in UTC."""
    return _START + micros * _ONE


def hours(span: Span) -> Iterator[tuple[int, Span]]:
    """Each UTC hour that the span touches, as its start, with the part of the span inside it."""
    hour = span.start_us - span.start_us % HOUR_US
    while span.length_us and hour < span.end_us:
        yield hour, span.cut(Span(hour, hour + HOUR_US))
        hour += HOUR_US


def corrected(span: Span, count_us: int | None) -> Span:
    """The span as the node counted it, from the same start; as it is when there is no count."""
    return span if count_us is None else Span(span.start_us, span.start_us + max(0, count_us))
