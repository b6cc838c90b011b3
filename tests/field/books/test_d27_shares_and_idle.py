"""D27: shares of one card and what nobody held of it always sum to the card's price."""

import pytest

from billing.rating.accounts import Account
from billing.rating.cardhour import Holding, card_hour
from billing.rating.intervals import HOUR_US, Span
from billing.rating.tariffs import FOREVER, Tariff

HOUR = Span(0, HOUR_US)
FOUR = (Tariff("p", 4_000_000, 0, FOREVER),)


def share(key, memory, compute, span=HOUR):
    """By thousandths of the card; the equivalent is the mean of both."""
    return Holding(
        key=key,
        span=span,
        micro=(memory + compute) * 500,
        memory_milli=memory,
        compute_milli=compute,
        known_us=span.length_us,
        used_us=span.length_us,
    )


def paid(held):
    parts = card_hour(span=HOUR, line=FOUR, held=held)
    assert sum(part.micro for part in parts) == 4_000_000
    by_key = {}
    for part in parts:
        key = part.account if part.key == 0 or part.account is Account.STRANDED else part.key
        by_key[key] = by_key.get(key, 0) + part.micro
    return by_key


def test_four_quarters_are_one_each():
    assert paid([share(n, 250, 250) for n in (1, 2, 3, 4)]) == dict.fromkeys(
        (1, 2, 3, 4), 1_000_000
    )


def test_two_quarters_leave_half_idle_which_strands_nothing():
    found = paid([share(n, 250, 250) for n in (1, 2)])
    assert found == {1: 1_000_000, 2: 1_000_000, Account.PLATFORM_IDLE: 2_000_000}


def test_slices_pay_by_their_weights_and_the_unused_one_is_idle():
    found = paid([share(1, 500, 428)])
    assert found == {1: 1_856_000, Account.PLATFORM_IDLE: 2_144_000}
    both = paid([share(1, 500, 428), share(2, 500, 572)])
    assert both == {1: 1_856_000, 2: 2_144_000}


def test_one_of_four_time_slices_pays_for_its_own_alone():
    assert paid([share(1, 250, 250)]) == {1: 1_000_000, Account.PLATFORM_IDLE: 3_000_000}


def test_nearly_all_memory_and_little_compute_strands_the_rest():
    assert paid([share(1, 900, 100)]) == {1: 2_000_000, Account.STRANDED: 2_000_000}


@pytest.mark.parametrize("minutes", [1, 17, 59])
def test_a_share_that_comes_in_the_middle_changes_nobody_elses(minutes):
    late = Span(minutes * 60_000_000, HOUR_US)
    found = paid([share(1, 250, 250), share(2, 500, 500, late)])
    assert found[1] == 1_000_000
    assert found[2] == round(2_000_000 * (60 - minutes) / 60)
