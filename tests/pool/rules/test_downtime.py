"""How long a lease was out of service when maintenance windows overlap."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pool.rules.windows import downtime_s

TEN = datetime(2026, 3, 1, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)


def span(start, end):
    return TEN + start * HOUR, TEN + end * HOUR


def test_overlaps_count_once_and_gaps_not_at_all():
    assert downtime_s([span(0, 2), span(1, 3)], since=TEN) == 3 * 3600
    assert downtime_s([span(0, 1), span(2, 3)], since=TEN) == 2 * 3600
    assert downtime_s([span(0, 4), span(1, 2)], since=TEN + HOUR) == 3 * 3600
    assert downtime_s([], since=TEN) == 0


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6), st.integers(0, 30))
def test_it_is_the_number_of_hours_that_some_span_covers(pairs, since):
    spans = [span(*sorted(pair)) for pair in pairs]
    covered = {h for a, b in map(sorted, pairs) for h in range(a, b) if h >= since}
    assert downtime_s(spans, since=TEN + since * HOUR) == 3600 * len(covered)
