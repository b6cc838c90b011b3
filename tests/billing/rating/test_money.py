"""Rounding in one place, and parts that sum to the whole."""

from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.rating.money import apportion, settle, shown

amounts = st.integers(-(10**15), 10**15)
weights = st.lists(st.integers(0, 10**9), min_size=1, max_size=12)


@given(amounts, st.integers(1, 10**16))
def test_an_amount_is_settled_to_the_nearest_half_to_even(numerator, denominator):
    assert settle(numerator, denominator) == round(Fraction(numerator, denominator))


@given(amounts, weights)
def test_shares_sum_to_the_whole_and_none_is_a_unit_off(total, by):
    shares = apportion(total, by)
    assert sum(shares) == total
    if sum(by):
        exact = [Fraction(total * weight, sum(by)) for weight in by]
        assert all(abs(share - fair) < 1 for share, fair in zip(shares, exact, strict=True))


@given(amounts, weights)
def test_who_has_no_weight_gets_nothing_while_another_has(total, by):
    if sum(by):
        shares = apportion(total, by)
        assert all(share == 0 for share, weight in zip(shares, by, strict=True) if not weight)


def test_the_largest_remainder_gets_the_rest_and_equal_ones_go_by_place():
    assert apportion(100, [1, 1, 1]) == (34, 33, 33)
    assert apportion(10, [1, 2, 4]) == (1, 3, 6)
    assert apportion(7, [0, 0]) == (7, 0)


def test_nobody_can_be_given_nothing_but_not_something():
    assert apportion(0, []) == ()
    with pytest.raises(ValueError, match="nobody"):
        apportion(1, [])


@given(amounts, st.integers(0, 6))
def test_what_is_shown_is_the_amount_half_even(micro, digits):
    step = Decimal(1).scaleb(-digits)
    exact = Decimal(micro).scaleb(-6)
    assert shown(micro, digits) == exact.quantize(step, rounding=ROUND_HALF_EVEN)
