"""The band round a month's forecast."""

from hypothesis import given
from hypothesis import strategies as st

from billing.rating.pace import band

CREDITED = st.lists(st.integers(-(10**12), 10**12), min_size=3, max_size=30)
DAYS = st.lists(st.integers(0, 10**12), min_size=3, max_size=30)


def test_too_few_days_say_nothing():
    assert band([5, 5], sum_micro=10, left_days=10) is None


def test_days_that_are_all_alike_leave_no_doubt():
    assert band([100] * 10, sum_micro=1000, left_days=20) == (3000, 3000)


def test_the_more_unlike_the_days_the_wider_it_is():
    calm = band([90, 110, 90, 110], sum_micro=400, left_days=10)
    wild = band([0, 200, 0, 200], sum_micro=400, left_days=10)
    assert wild[1] - wild[0] > 5 * (calm[1] - calm[0])
    assert band([0, 200, 0, 200], sum_micro=400, left_days=0) == (400, 400)


@given(DAYS, st.floats(0, 31))
def test_it_is_never_below_what_is_spent_and_holds_the_mean(days, left):
    low, high = band(days, sum_micro=sum(days), left_days=left)
    assert sum(days) <= low <= high
    assert low <= sum(days) + sum(days) / len(days) * left + 1


@given(CREDITED, st.floats(0, 31))
def test_credits_turn_no_band_round(days, left):
    low, high = band(days, sum_micro=sum(days), left_days=left)
    middle = sum(days) + sum(days) / len(days) * left
    assert low - 1 <= middle <= high + 1
    assert low <= high
