"""Where the cards' time went, day by day, as the ledger tells it."""

from datetime import date

import pytest

from billing.selectors.stranded import card_days
from billing.services.metering import usage_meter
from billing.services.posting import ledger_post
from pool.models import Hold
from tests.billing.rows import Books, at, told

pytestmark = pytest.mark.django_db(transaction=True)


def test_each_day_tells_what_was_stranded_and_all_parts_sum_to_the_cards_hours():
    books = Books.opened()
    span = (at("2026-03-01T22:00:00"), at("2026-03-02T06:00:00"))
    hold = books.hold(span, micro=500_000)
    Hold.objects.filter(pk=hold.pk).update(memory_mib=73_728, compute_milli=100)
    told(hold)
    type(books.node.cards.first()).objects.update(partition=books.partition)
    usage_meter()
    while ledger_post(until=at("2026-03-02T23:00:00"), most=200).more:
        pass
    (whole,) = card_days(since=at("2026-03-01"), until=at("2026-03-03"))
    assert whole.day == date(2026, 3, 1), "the second day lacks its last hour"
    while ledger_post(until=at("2026-03-03"), most=200).more:
        pass
    first, second = card_days(since=at("2026-03-01"), until=at("2026-03-03"))
    assert (first.day, first.stranded, first.held_unknown) == (date(2026, 3, 1), 1.0, 1.0)
    assert (second.stranded, second.held_unknown, second.platform_idle) == (3.0, 3.0, 18.0)
    assert second.used == second.held_idle == second.down == 0
    assert card_days(since=at("2026-04-01"), until=at("2026-04-02")) == []
