"""What a replay would cost: at the prices of its days, of today, or of a changed book."""

import pytest

from billing.selectors.whatif import PriceChange, added_an_hour, costs_of
from tests.billing.rows import Books, at

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]

HOUR = 3600.0
SINCE = at("2026-03-01")


@pytest.fixture
def books():
    """A euro an hour before the third of March, two from then on."""
    books = Books.opened(rate=None)
    books.price(1_000_000, "2026-01-01", "2026-03-03T00:00:00")
    books.price(2_000_000, "2026-03-03T00:00:00")
    return books


def _row(books, days, team="vision"):
    key = [team, books.partition.pk, "A100-80GB", "whole", "standard"]
    return [*key, sum(days), days]


def test_a_period_is_paid_at_the_prices_of_its_days(books):
    row = _row(books, [HOUR, 2 * HOUR, HOUR])
    currency = "EUR"
    assert costs_of([row], currency=currency, since=SINCE) == {"vision": 5_000_000}
    assert costs_of([row], currency=currency) == {"vision": 8_000_000}
    noon = SINCE.replace(hour=12)
    told = costs_of([_row(books, [0.0, HOUR])], currency=currency, since=noon)
    assert told == {"vision": 1_500_000}, "half of that day has the new price"


def test_days_without_a_price_make_the_cost_of_their_team_unknown(books):
    before = at("2025-12-31")
    rows = [_row(books, [HOUR, HOUR]), _row(books, [0.0, HOUR], team="speech")]
    told = costs_of(rows, currency="EUR", since=before)
    assert told == {"vision": None, "speech": 1_000_000}


def test_the_last_change_of_a_price_that_fits_counts(books):
    row, currency = _row(books, [HOUR]), "EUR"
    place = books.partition.pk
    for changes, cost in (
        ((), 1_000_000),
        ((PriceChange(50),), 500_000),
        ((PriceChange(50), PriceChange(200, place, "A100-80GB")), 2_000_000),
        ((PriceChange(0, place), PriceChange(30, None, "H100-80GB")), 0),
        ((PriceChange(30, place + 1),), 1_000_000),
    ):
        found = costs_of([row], currency=currency, since=SINCE, changes=changes)
        assert found == {"vision": cost}


def test_an_outcome_that_was_kept_without_days_is_paid_at_todays_prices(books):
    row = _row(books, [HOUR])[:-1]
    told = costs_of([row], currency="EUR", since=SINCE)
    assert told == {"vision": 2_000_000}


def test_cards_that_are_missing_have_a_price_an_hour(books):
    key = (books.partition.pk, "A100-80GB")
    currency = "EUR"
    assert added_an_hour({key: 3}, currency=currency) == {key: 6_000_000}
    assert added_an_hour({key: 3}, currency="XXX") == {key: None}
