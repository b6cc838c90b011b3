"""The ledger and what is agreed while it runs: nothing that people set is lost."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models import Sum

from billing.models import Cursor, Discount, Entry, Month, Posting, Usage
from billing.rating.accounts import Account
from billing.rating.intervals import micros
from billing.selectors.cardhours import lives
from billing.selectors.holds import database_now
from billing.services import posting
from billing.services.contracts import contract_set, discount_end, discount_set
from billing.services.metering import usage_meter
from billing.services.posting import ledger_post, ledger_repost
from billing.services.prices import price_set
from pool.errors import Invalid
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models import RollupDue
from tests.billing.rows import Books, at, told

pytestmark = pytest.mark.django_db(transaction=True)

RATE = 1_000_000
BEGIN, END = at("2026-03-01T00:00:00"), at("2026-03-01T06:00:00")


@pytest.fixture
def books():
    """Six hours of a whole card, metered."""
    found = Books.opened(rate=RATE)
    told(found.hold((BEGIN, END), micro=1_000_000))
    usage_meter()
    return found


def posted():
    while ledger_post(until=END, most=2000).more:
        pass


def total(account):
    rows = Posting.objects.filter(account=account, organization_id__isnull=False)
    return int(rows.aggregate(s=Sum("amount_micro"))["s"] or 0)


def meanwhile(monkeypatch, act, after=3):
    """Let something happen between two hours of a pass."""
    was, seen = posting._post_hour, []

    def post(hour, *given):
        seen.append(hour)
        if len(seen) == after:
            act()
        return was(hour, *given)

    monkeypatch.setattr(posting, "_post_hour", post)


def test_a_discount_set_between_two_hours_of_a_pass_counts_in_all_of_them(books, monkeypatch):
    home = books.project.organization
    meanwhile(
        monkeypatch,
        lambda: discount_set(
            kind="agreement", milli=500, since=BEGIN, organization=home, actor=SYSTEM
        ),
    )
    first = ledger_post(until=END)
    assert first.more
    posted()
    assert total(Account.AGREEMENT) == -6 * RATE // 2


def test_a_contract_set_after_the_last_hour_of_a_pass_is_not_overwritten(books, monkeypatch):
    was = posting._reach

    def reach(mark, reached):
        contract_set(
            organization=books.project.organization,
            since=BEGIN.date(),
            tax_milli=200,
            actor=SYSTEM,
        )
        monkeypatch.setattr(posting, "_reach", was)
        return was(mark, reached)

    monkeypatch.setattr(posting, "_reach", reach)
    assert ledger_post(until=END).more
    assert total(Account.TAX) == 0
    posted()
    assert total(Account.TAX) == 6 * RATE // 5


def test_always_begins_with_the_month_of_the_first_usage(books):
    posted()
    contract_set(since=at("2001-01-01").date(), tax_milli=100, actor=SYSTEM)
    assert Cursor.objects.get(name="ledger").event == micros(BEGIN - timedelta(days=1))
    posted()
    assert Entry.objects.order_by("hour").first().hour == BEGIN
    assert total(Account.TAX) == 6 * RATE // 10


def test_a_card_that_was_found_later_was_not_here_before(books):
    card = books.node.cards.get()
    with transaction.atomic():
        record(EventKind.CARD_FOUND, card, actor=SYSTEM)
    now = database_now()
    early = lives(cards={card.uid: card}, since=BEGIN, until=END)[card.pk]
    assert early.here.length_us == 0
    late = lives(cards={card.uid: card}, since=now, until=now + timedelta(hours=1))[card.pk]
    assert late.here.length_us == 3_600_000_000


def test_a_change_of_the_meter_is_seen_though_a_reading_is_newer(books):
    posted()
    now = database_now()
    RollupDue.objects.create(
        step=3600, at=BEGIN, touched_at=now, rolled_at=now + timedelta(minutes=5)
    )
    posted()
    row = Usage.objects.order_by("hour").first()
    Usage.objects.filter(pk=row.pk).update(amount_micro=RATE // 2, metered_at=database_now())
    posted()
    assert total(Account.PRICE) == -RATE // 2


def test_what_is_read_late_does_not_split_a_closed_month_anew(books):
    posted()
    Month.objects.create(
        organization=books.project.organization,
        first=BEGIN.date(),
        zone="UTC",
        currency="EUR",
        state="closed",
        closed_at=at("2026-04-02"),
        total_micro=6 * RATE,
        digest="0" * 64,
    )
    count = Posting.objects.count()
    hold = Usage.objects.order_by("hour").first()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO pool_rollup_hour (at, card_id, slice_id, attempt_id, seconds, mean, peak,"
            " known) SELECT %s, %s, NULL, %s, 3600, array_fill(50::float, ARRAY[17]),"
            " array_fill(50::float, ARRAY[17]), array_fill(3600::float, ARRAY[17])",
            [BEGIN, hold.card_id, hold.attempt_id],
        )
    ledger_repost(since=BEGIN)
    posted()
    assert Posting.objects.count() == count


def test_a_discount_ends_in_the_month_of_its_own_clock_and_is_withdrawn_before_its_first_day(books):
    posted()
    home = books.project.organization
    row = discount_set(kind="agreement", milli=500, since=BEGIN, organization=home, actor=SYSTEM)
    posted()
    assert total(Account.AGREEMENT) == -3 * RATE
    discount_end(discount=row, at=BEGIN + timedelta(hours=2), actor=SYSTEM)
    posted()
    assert total(Account.AGREEMENT) == -RATE
    with pytest.raises(Invalid):
        discount_end(discount=row, at=END, actor=SYSTEM)
    discount_end(discount=row, at=BEGIN, actor=SYSTEM)
    posted()
    assert total(Account.AGREEMENT) == 0
    assert not Discount.objects.exists()


def test_days_of_no_calendar_are_refused(books):
    for year in (1, 1999, 3000):
        day = BEGIN.replace(year=year)
        with pytest.raises(Invalid):
            contract_set(since=day.date(), actor=SYSTEM)
        with pytest.raises(Invalid):
            discount_set(kind="agreement", milli=5, since=day, actor=SYSTEM)
        with pytest.raises(Invalid):
            price_set(
                partition=books.partition, rate_micro=1, starts_at=day, rerate=True, actor=SYSTEM
            )
