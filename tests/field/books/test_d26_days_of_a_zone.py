"""D26: days of 25 and 23 hours, month ends and half-hour zones: the sum is the real time."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db.models import Sum

from billing.models import Posting
from billing.rating.intervals import HOUR_US
from billing.services.metering import usage_meter
from billing.services.posting import ledger_post
from tests.billing.rows import Books, at, told

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]

RATE = 1_000_000
CHANGES = [
    ("Europe/Berlin", date(2026, 3, 29), 23),
    ("Europe/Berlin", date(2026, 10, 25), 25),
    ("America/New_York", date(2026, 3, 8), 23),
    ("America/New_York", date(2026, 11, 1), 25),
    ("Asia/Kolkata", date(2026, 3, 1), 24),
    ("Asia/Shanghai", date(2026, 3, 1), 24),
    ("UTC", date(2026, 11, 1), 24),
]


@pytest.mark.parametrize(("zone", "day", "hours"), CHANGES)
def test_sums_over_days_and_months_are_the_elapsed_time(zone, day, hours):
    books = Books.opened(zone=zone, rate=RATE)
    around = at(day.isoformat())
    start, end = around - timedelta(days=1, hours=3), around + timedelta(days=2)
    told(books.hold((start, end), micro=1_000_000))
    usage_meter()
    while ledger_post(until=end, most=500).more:
        pass
    own = Posting.objects.filter(project_id=books.project.pk).order_by()
    days = {
        row["day"]: (row["us"], row["micro"])
        for row in own.values("day").annotate(us=Sum("card_us"), micro=Sum("amount_micro"))
    }
    assert days[day] == (hours * HOUR_US, hours * RATE)
    months = own.values("month").annotate(us=Sum("card_us"), micro=Sum("amount_micro"))
    whole = (end - start) // timedelta(microseconds=1)
    assert sum(us for us, _ in days.values()) == whole
    assert sum(row["us"] for row in months) == whole
    assert sum(row["micro"] for row in months) == sum(micro for _, micro in days.values())
    assert {row["month"] for row in months} == {one.replace(day=1) for one in days}
    first = start.astimezone(ZoneInfo(zone)).date()
    last = (end - timedelta(microseconds=1)).astimezone(ZoneInfo(zone)).date()
    assert sorted(days) == [first + timedelta(n) for n in range((last - first).days + 1)]
