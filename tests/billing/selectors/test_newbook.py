"""The same use at the prices that begin next: what changes is the prices, never the use."""

import pytest
from psycopg.types.range import Range

from billing.models import Price, Usage
from billing.selectors.newbook import new_book
from billing.services.contracts import contract_set
from billing.services.metering import usage_meter
from pool.events import SYSTEM
from tests.billing.rows import Books, at, told
from tests.billing.services.test_keeping import card_of, kept, moved

pytestmark = pytest.mark.django_db(transaction=True)

MARCH = at("2026-03-01").date()
START, END = at("2026-03-01T10:00:00"), at("2026-03-01T12:00:00")


def next_price(books, rate, **key):
    """Counts from a day to come; the present one ends there."""
    begin = at("2199-01-01")
    for row in Price.objects.filter(partition=books.partition, **key):
        row.valid = Range(row.valid.lower, begin)
        row.save(update_fields=["valid"])
    return Price.objects.create(
        partition=books.partition,
        currency="EUR",
        rate_micro=rate,
        valid=Range(begin, None),
        **key,
    )


def vgpu(books, micro):
    """Two hours of a part of a card that takes a licence seat."""
    hold = books.hold((START, END), micro=micro)
    type(hold).objects.filter(pk=hold.pk).update(mode="vgpu")
    return told(hold)


def asked(books):
    return new_book(organization=books.project.organization, first=MARCH)


def test_a_quarter_of_a_card_takes_a_whole_seat_in_the_next_book_as_in_this():
    books = Books.opened(rate=2_000_000)
    books.price(10_000_000, "2020-01-01", unit="seat")
    for _ in range(4):
        vgpu(books, 250_000)
    usage_meter()
    next_price(books, 2_000_000, unit="card")
    book = asked(books)
    assert book.now_micro == 2 * 2_000_000 + 4 * 2 * 10_000_000
    assert book.then_micro == book.now_micro
    next_price(books, 5_000_000, unit="seat")
    assert asked(books).then_micro == 2 * 2_000_000 + 4 * 2 * 5_000_000


def test_what_has_no_price_now_is_in_neither_number():
    books = Books.opened(rate=2_000_000)
    told(books.hold((START, END), micro=500_000))
    told(books.hold((START, END), micro=500_000))
    usage_meter()
    Usage.objects.filter(pk=Usage.objects.latest("pk").pk).update(amount_micro=None)
    next_price(books, 4_000_000, unit="card")
    book = asked(books)
    assert (book.now_micro, book.then_micro) == (3_000_000, 6_000_000)


def test_kept_cards_that_the_platform_pays_are_in_neither_number():
    books = Books.opened(rate=2_000_000)
    moved(kept(books, card_of(books)), state="ended", over_at=at("2026-03-01T12:00:00"))
    usage_meter()
    next_price(books, 4_000_000, unit="card")
    assert asked(books).now_micro == 4_000_000
    contract_set(since=MARCH, guarantee_by="platform", actor=SYSTEM)
    assert asked(books) is None, "nothing is charged: there is nothing to compare"


def test_without_a_price_to_come_the_rows_of_the_month_are_not_read(
    django_assert_num_queries,
):
    books = Books.opened(rate=2_000_000)
    told(books.hold((START, END)))
    usage_meter()
    with django_assert_num_queries(2) as seen:
        assert asked(books) is None
    assert not any("billing_usage" in one["sql"] for one in seen)


def test_a_price_to_come_where_nothing_of_the_month_ran_is_no_news():
    books, elsewhere = Books.opened(rate=2_000_000), Books.opened(rate=1_000_000)
    told(books.hold((START, END)))
    usage_meter()
    next_price(elsewhere, 9_000_000, unit="card")
    assert asked(books) is None
