"""Setting prices on the real database."""

import threading
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from billing.errors import PriceInThePast
from billing.models import Price
from billing.selectors.holds import database_now
from billing.services.metering import usage_meter
from billing.services.prices import EXAMPLE_CARDS, price_book_seed, price_set
from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import Event
from tests.billing.rows import LABEL, Books, at, told

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_new_price_ends_the_one_before_at_the_moment_it_begins():
    books = Books.opened(rate=None)
    first = price_set(partition=books.partition, rate_micro=1, actor=SYSTEM)
    second = price_set(partition=books.partition, rate_micro=2, actor=SYSTEM)
    first.refresh_from_db()
    assert first.valid.upper == second.valid.lower
    assert second.valid.upper is None
    assert Event.objects.filter(kind="price.changed").count() == 2


def test_a_price_counts_until_the_next_one_that_is_already_set():
    books = Books.opened(rate=None)
    later = database_now() + timedelta(days=30)
    future = price_set(partition=books.partition, rate_micro=9, starts_at=later, actor=SYSTEM)
    now = price_set(partition=books.partition, rate_micro=1, actor=SYSTEM)
    now.refresh_from_db()
    assert now.valid.upper == future.valid.lower == later


def test_setting_the_same_price_again_makes_no_second_row():
    books = Books.opened(rate=None)
    for _ in range(2):
        price_set(partition=books.partition, rate_micro=5, card_model=LABEL, actor=SYSTEM)
    assert Price.objects.count() == 1


def test_a_price_that_has_not_begun_can_be_put_right():
    books = Books.opened(rate=None)
    later = database_now() + timedelta(days=1)
    for rate in (3, 4):
        price_set(partition=books.partition, rate_micro=rate, starts_at=later, actor=SYSTEM)
    assert Price.objects.get().rate_micro == 4


def test_time_that_is_metered_keeps_its_price():
    books = Books.opened()
    told(books.hold((at("2026-03-01"), at("2026-03-02"))))
    usage_meter()
    with pytest.raises(PriceInThePast) as refused:
        price_set(
            partition=books.partition,
            rate_micro=1,
            starts_at=at("2026-03-01T12:00:00"),
            actor=SYSTEM,
        )
    assert refused.value.detail["metered_until"] == "2026-03-02T00:00:00+00:00"
    assert Price.objects.count() == 1


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"rate_micro": -1}, "rate_micro"),
        ({"rate_micro": 10**13}, "rate_micro"),
        ({"currency": "eur"}, "currency"),
        ({"currency": "€"}, "currency"),
        ({"unit": "hour"}, "unit"),
        ({"mode": "half"}, "mode"),
        ({"unit": "core", "card_model": LABEL}, "card_model"),
    ],
)
def test_what_no_price_can_be_is_refused_by_name(wrong, named):
    books = Books.opened(rate=None)
    with pytest.raises(Invalid) as refused:
        price_set(**{"partition": books.partition, "rate_micro": 1, "actor": SYSTEM, **wrong})
    assert list(refused.value.detail) == [named]
    assert not Price.objects.exists()
    assert not Event.objects.filter(kind="price.changed").exists()


def test_the_database_itself_refuses_two_prices_at_once():
    books = Books.opened(rate=None)
    books.price(1, "2026-01-01", "2026-02-01")
    books.price(2, "2026-02-01")
    with pytest.raises(IntegrityError, match="price_one_at_a_time"), transaction.atomic():
        books.price(3, "2026-01-15", "2026-01-16")


def test_prices_set_at_the_same_time_follow_one_another():
    books = Books.opened(rate=None)
    start = threading.Barrier(6)

    def run(rate):
        start.wait(10)
        price_set(partition=books.partition, rate_micro=rate, actor=SYSTEM)
        connection.close()

    threads = [threading.Thread(target=run, args=(rate,)) for rate in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
    line = list(Price.objects.order_by("valid"))
    assert len(line) == 6
    assert [one.valid.upper for one in line] == [*(one.valid.lower for one in line[1:]), None]


def test_the_example_book_is_set_once_for_each_partition_without_prices():
    one, two = Books.opened(rate=None), Books.opened(rate=7)
    both = [one.partition, two.partition]
    assert price_book_seed(partitions=both, actor=SYSTEM) == len(EXAMPLE_CARDS) + 2
    assert price_book_seed(partitions=both, actor=SYSTEM) == 0
    assert two.partition.prices.count() == 1
