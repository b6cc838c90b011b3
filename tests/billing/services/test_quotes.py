"""A price before the fact is the price after it."""

from datetime import timedelta

import pytest
from psycopg.types.range import Range

from billing.models import Price
from billing.selectors.holds import database_now
from billing.services.quotes import quote
from tests.billing.rows import LABEL, Books

pytestmark = pytest.mark.django_db


def ask(books, **more):
    given = {"equivalents_micro": 250_000, "seconds": 3600, **more}
    return quote(
        project=books.project, partition=books.partition, card_model=LABEL, mode="mig", **given
    )


def test_a_quarter_card_for_an_hour_costs_a_quarter_of_the_rate():
    made = ask(Books.opened(rate=2_000_000))
    assert (made.per_hour_micro, made.total_micro, made.currency) == (500_000, 500_000, "EUR")
    assert made.weights == {"cost": 1}


def test_parts_are_counted_and_host_units_are_for_all_of_them():
    books = Books.opened(rate=2_000_000)
    books.price(10_000, "2020-01-01", unit="core")
    books.price(1_000, "2020-01-01", unit="gib")
    made = ask(books, parts=4, cpu_milli=8000, ram_mib=16 * 1024, seconds=7200)
    assert made.per_hour_micro == 2_000_000 + 80_000 + 16_000
    assert made.total_micro == 2 * made.per_hour_micro


def test_without_a_price_the_amounts_are_unknown_and_there_is_no_weight():
    made = ask(Books.opened(rate=None))
    assert (made.per_hour_micro, made.total_micro, made.weights) == (None, None, {})


def test_a_price_that_is_to_change_counts_from_its_day_on():
    books = Books.opened(rate=None)
    change = database_now() + timedelta(hours=1)
    for rate, span in ((1_000_000, (None, change)), (3_000_000, (change, None))):
        Price.objects.create(
            partition=books.partition,
            currency="EUR",
            rate_micro=rate,
            valid=Range(span[0] or change - timedelta(days=1), span[1]),
        )
    made = ask(books, equivalents_micro=1_000_000, seconds=7200)
    assert made.per_hour_micro == 1_000_000
    assert abs(made.total_micro - 4_000_000) < 3_000
