"""What an hour costs a team, as it is told before, is what the ledger posts for such an hour."""

import pytest
from django.db.models import Sum

from billing.models import Cursor, Posting
from billing.rating.accounts import OF_THE_PLATFORM
from billing.rating.intervals import micros
from billing.selectors.effective import effective_price
from billing.services.contracts import contract_set, discount_set
from billing.services.metering import usage_meter
from billing.services.posting import ledger_post
from pool.events import SYSTEM
from pool.models import ClockShift
from tests.billing.rows import LABEL, Books, at, told
from tests.billing.services.test_keeping import the_clock_says

pytestmark = pytest.mark.django_db(transaction=True)

START, END = at("2026-03-01T10:00:00"), at("2026-03-01T11:00:00")


@pytest.mark.parametrize("mode", ["whole", "vgpu"])
def test_the_price_of_an_hour_is_what_the_ledger_posts_for_it(mode):
    books = Books.opened(rate=2_000_000)
    books.price(500_000, "2020-01-01", unit="seat")
    contract_set(since=START.date(), tax_milli=190, actor=SYSTEM)
    discount_set(kind="agreement", milli=100, since=at("2026-03-01"), actor=SYSTEM)
    hold = books.hold((START, END), micro=1_000_000)
    type(hold).objects.filter(pk=hold.pk).update(mode=mode, memory_mib=81920, compute_milli=1000)
    type(hold.card).objects.filter(pk=hold.card_id).update(partition=books.partition)
    told(hold)
    the_clock_says(at("2026-03-01T12:00:00"))
    usage_meter()
    Cursor.objects.update_or_create(name="ledger", defaults={"event": micros(START)})
    ledger_post(until=END)
    ClockShift.objects.all().delete()
    mine = Posting.objects.filter(organization_id=books.project.organization_id)
    mine = mine.exclude(account__in=OF_THE_PLATFORM)
    price = effective_price(
        project=books.project, partition=books.partition, card_model=LABEL, at=START, mode=mode
    )
    assert price.charge_micro == mine.aggregate(s=Sum("amount_micro"))["s"]
    seats = [micro for account, micro in price.steps if account == "licence"]
    assert seats == ([500_000] if mode == "vgpu" else [])
