"""Hours of a span, to the microsecond."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from billing.rating.intervals import HOUR_US, Span, corrected, hours, micros, moment

starts = st.integers(1_700_000_000_000_000, 1_900_000_000_000_000)
lengths = st.integers(0, 40 * HOUR_US)


@given(starts, lengths)
def test_the_parts_of_the_hours_are_the_whole_span_once(start, length):
    parts = list(hours(Span(start, start + length)))
    assert sum(part.length_us for _, part in parts) == length
    assert len({hour for hour, _ in parts}) == len(parts)
    edge = start
    for hour, part in parts:
        assert hour % HOUR_US == 0
        assert hour <= part.start_us < part.end_us <= hour + HOUR_US
        assert part.start_us == edge
        edge = part.end_us


@given(st.datetimes(datetime(2001, 1, 1), datetime(2090, 1, 1)), st.integers(-12, 14))  # noqa: DTZ001
def test_a_moment_is_the_same_in_every_zone_and_comes_back_exactly(naive, ahead):
    zone = timezone(timedelta(hours=ahead))
    at = naive.replace(tzinfo=zone)
    assert moment(micros(at)) == at
    assert micros(at) == micros(at.astimezone(UTC))


def test_spans_that_do_not_meet_have_nothing_in_common():
    assert Span(0, 10).cut(Span(10, 20)).length_us == 0
    assert Span(30, 40).cut(Span(10, 20)).length_us == 0
    assert Span(0, 15).cut(Span(10, 20)) == Span(10, 15)


def test_the_nodes_own_count_replaces_the_length_but_not_the_start():
    assert corrected(Span(5, 50), None) == Span(5, 50)
    assert corrected(Span(5, 50), 7) == Span(5, 12)
    assert corrected(Span(5, 50), 100) == Span(5, 105)
    assert corrected(Span(5, 50), -1).length_us == 0
