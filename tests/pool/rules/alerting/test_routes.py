"""Routes open by hours and calendars for all but hardware; silences and routes match by parts."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pool.rules.alerting.routes import FURTHEST_DAYS, Hours, Matcher, Told, due, open_at, silenced

OFFICE = Hours(frozenset({0, 1, 2, 3, 4}), 540, 1080, "Asia/Shanghai")
FRIDAY_NIGHT = datetime(2026, 11, 27, 15, 0, tzinfo=UTC)


def test_hardware_and_the_books_leave_at_any_hour_and_performance_waits_for_monday():
    assert due(OFFICE, "hardware", FRIDAY_NIGHT) == FRIDAY_NIGHT
    assert due(OFFICE, "books", FRIDAY_NIGHT) == FRIDAY_NIGHT
    assert due(OFFICE, "performance", FRIDAY_NIGHT) == datetime(2026, 11, 30, 1, tzinfo=UTC)
    inside = datetime(2026, 11, 27, 2, tzinfo=UTC)
    assert due(OFFICE, "workload", inside) == inside


def test_a_closed_day_is_left_out():
    closed = Hours(OFFICE.days, 540, 1080, "Asia/Shanghai", frozenset({date(2026, 11, 30)}))
    assert due(closed, "performance", FRIDAY_NIGHT) == datetime(2026, 12, 1, 1, tzinfo=UTC)


def test_a_route_that_never_opens_lets_the_word_out_at_last():
    never = Hours(frozenset(), 0, 1440)
    assert due(never, "performance", FRIDAY_NIGHT) == FRIDAY_NIGHT + timedelta(days=FURTHEST_DAYS)


HOURS = st.builds(
    Hours,
    st.frozensets(st.integers(0, 6), min_size=1),
    st.integers(0, 719),
    st.integers(720, 1440),
    st.sampled_from(["UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York"]),
)


@given(HOURS, st.integers(0, 365 * 1440))
def test_a_word_leaves_when_its_route_is_open_and_never_before_its_alert(hours, minute):
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    when = due(hours, "performance", at)
    assert when >= at
    assert open_at(hours, when)
    assert when - at <= timedelta(days=8)


def test_empty_parts_match_everything_and_severity_is_the_least_that_matches():
    told = Told("hardware", "warning", "card:a", 3, 7)
    assert Matcher().matches(told)
    assert Matcher().empty
    assert Matcher(severity="info", rule=3, project=7, subject="card:a").matches(told)
    assert not Matcher(severity="critical").matches(told)
    assert not Matcher(family="performance").matches(told)
    assert not Matcher(project=8).matches(told)
    assert silenced(told, [Matcher(rule=4), Matcher(subject="card:a")])
    assert not silenced(told, [Matcher(rule=4)])
