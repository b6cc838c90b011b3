"""D28: hours are full hours, whatever the sampler, the agent and the worker did meanwhile."""

import pytest
from django.db.models import Sum

from billing.models import Posting, Usage
from billing.selectors.reconciling import differences
from billing.services.metering import usage_meter
from billing.services.posting import ledger_post
from pool.lifecycle.events import EventKind
from pool.models import Hold
from tests.billing.rows import Books, at, told
from tests.billing.services.test_metering import the_clock_says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]

START, END = at("2026-03-01T08:00:00"), at("2026-03-01T11:00:00")
LOOKS = (
    *("2026-03-01T08:00:07", "2026-03-01T08:59:58", "2026-03-01T09:00:01"),
    *("2026-03-01T09:41:13", "2026-03-01T10:00:02", "2026-03-01T10:59:59"),
)
"""When the meter came by: before and after the hour, with the worker's restart between."""


def test_three_hours_are_three_times_3600_seconds_without_a_single_sample():
    books = Books.opened(rate=1_000_000)
    the_clock_says(START)
    hold = told(books.hold((START, None), micro=1_000_000), EventKind.PLACEMENT_OPENED)
    for look in LOOKS:
        the_clock_says(at(look))
        usage_meter()
    Hold.objects.filter(pk=hold.pk).update(held=(START, END))
    told(hold)
    the_clock_says(at("2026-03-01T11:10:00"))
    usage_meter()
    usage_meter()
    rows = Usage.objects.filter(hold=hold).order_by("hour")
    assert [row.reserved_us for row in rows] == [3_600_000_000] * 3
    while ledger_post(until=END).more:
        pass
    told_all = Posting.objects.filter(account="held_unknown").aggregate(
        us=Sum("card_us"), micro=Sum("amount_micro")
    )
    assert told_all == {"us": 10_800_000_000, "micro": 3_000_000}
    assert differences(since=START, until=at("2026-03-01T11:05:00")) == []
